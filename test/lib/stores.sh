# shellcheck shell=sh disable=SC2034,SC2154 # what tests use; what tap.sh has
# stores.sh - starts servers for tests of stores, each on a free port of the loopback interface; a function returns when
# its server answers. The end of the test stops them. Source it after tap.sh. It unsets the variables of proxies, since
# all servers are on this machine.
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY PJ_STORE_AUTH
here=${PJ_BUILD:-$top/build/std-cc}/test/send
running=

# shellcheck disable=SC2154 # tap.sh has it
trap 'stop_all; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

stop_all()
{
	for pid in $running; do kill "$pid" 2>/dev/null; done
	for pid in $running; do wait "$pid" 2>/dev/null; done
	running=
}

# stop PID [SIGNAL]: ends a server
stop()
{
	kill "-${2:-TERM}" "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	running=$(for pid in $running; do [ "$pid" = "$1" ] || printf '%s ' "$pid"; done)
}

# soon COMMAND...: repeats the command until it succeeds; returns false after 30 s
soon()
{
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
}

# eve [ARGUMENTS]: starts evestub; sets eve_pid and eve_port. With --port, it has the same port after a restart.
eve()
{
	rm -f eve.port
	"$here/evestub" --portfile eve.port "$@" 2>>eve.log &
	eve_pid=$!
	running="$running $eve_pid"
	soon test -s eve.port || { fail "evestub starts" eve.log; return 1; }
	eve_port=$(cat eve.port)
}

# fault PORT ARGUMENTS: starts faultd, a proxy with faults, in front of PORT; sets fault_pid and fault_port
fault()
{
	to=$1
	shift
	rm -f fault.port
	"$here/faultd" --to "$to" --portfile fault.port "$@" 2>>fault.log &
	fault_pid=$!
	running="$running $fault_pid"
	soon test -s fault.port || { fail "faultd starts" fault.log; return 1; }
	fault_port=$(cat fault.port)
}

# windows FOLDER HOSTS WINDOWS STACKS [awk -v ...]: writes folded windows to FOLDER, and all their stacks to FOLDER.all:
# sorted lines "host stack value"
windows()
{
	mkdir -p "$1"
	to=$1 hosts=$2 windows=$3 stacks=$4
	shift 4
	awk -v to="$to" -v hosts="$hosts" -v windows="$windows" -v stacks="$stacks" "$@" -f "$top/test/send/windows.awk" | sort >"$to.all"
}

# ship ARGUMENTS: runs the test program ship, whose output is in ship.out
ship()
{
	"$here/ship" "$@" >ship.out 2>&1
}

# eve_has [FILE]: prints the stacks that evestub stored: sorted lines "host stack value"
eve_has()
{
	awk -F"\t" '{ print $3, $4, $5 }' "${1:-kept}" | sort
}

# clickhouse [PORT]: starts a ClickHouse server; sets clickhouse_pid and clickhouse_port. Its data is in clickhouse/,
# also after SIGKILL. Returns false if it is not installed or does not start.
clickhouse()
{
	have clickhouse-server || return 1
	tries=0
	mkdir -p clickhouse
	cat >clickhouse/users.xml <<-USERS
		<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles><quotas><default/></quotas>
		<users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>
	USERS
	while [ $tries -lt 5 ]; do # somebody may take the port before it does
		tries=$((tries + 1))
		clickhouse_port=${1:-$("$here/faultd" --free)}
		cat >clickhouse/config.xml <<-CONFIG
			<yandex><logger><level>warning</level><console>1</console></logger><listen_host>127.0.0.1</listen_host>
			<http_port>$clickhouse_port</http_port><path>$PWD/clickhouse/data/</path><tmp_path>$PWD/clickhouse/tmp/</tmp_path>
			<users_config>$PWD/clickhouse/users.xml</users_config><default_profile>default</default_profile>
			<default_database>default</default_database><mark_cache_size>5368709</mark_cache_size></yandex>
		CONFIG
		setpriv --pdeathsig TERM clickhouse-server "--config-file=$PWD/clickhouse/config.xml" >>clickhouse/log 2>&1 &
		clickhouse_pid=$!
		running="$running $clickhouse_pid"
		if up "$clickhouse_pid" "$clickhouse_port" /; then return 0; fi
		stop "$clickhouse_pid"
	done
	fail "clickhouse-server starts" clickhouse/log
	return 1
}

# couch MODULES: starts express-pouchdb from the folder MODULES, with a database pj; sets couch_pid and couch_port
couch()
{
	rm -f couch.port
	setpriv --pdeathsig TERM node "$top/test/send/couch.cjs" "$1" "$PWD/couch.port" >couch.log 2>&1 &
	couch_pid=$!
	running="$running $couch_pid"
	soon test -s couch.port || { fail "express-pouchdb starts" couch.log; return 1; }
	couch_port=$(cat couch.port)
	"$here/ask" PUT "http://127.0.0.1:$couch_port" /pj >/dev/null
}

# up PID PORT PATH: waits until a server answers; returns false after 30 s, or if its process ends
up()
{
	tried=0
	until "$here/ask" GET "http://127.0.0.1:$2" "$3" >/dev/null 2>&1; do
		tried=$((tried + 1))
		[ $tried -lt 300 ] && kill -0 "$1" 2>/dev/null || return 1
		sleep 0.1
	done
}

# tables: creates the tables of ClickHouse that --schema prints, with one request for each statement
tables()
{
	"$here/ship" --schema clickhouse: | grep -v '^--' | awk 'BEGIN { RS = ";" } /CREATE/ { print > "clickhouse/table" ++i }'
	for statement in clickhouse/table*; do
		"$here/ask" POST "http://127.0.0.1:$clickhouse_port" / "$statement" || return 1
	done
}

# nginx_tls PORT: starts nginx with TLS and a password as a proxy of PORT, with certificates of a new authority; it also
# has paths with responses of its own, such as 503. Sets nginx_pid and nginx_port. Returns false if nginx or openssl is
# not installed, or nginx does not start.
nginx_tls()
{
	have nginx && have openssl || return 1
	mkdir -p nginx
	(
		cd nginx || exit 1
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -subj /CN=test-authority -days 2 &&
			openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout other.key -out other.pem -subj /CN=another -days 2 &&
			for who in localhost elsewhere client; do
				printf 'subjectAltName=DNS:%s\n' $who >$who.ext
				openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $who.key -out $who.csr -subj /CN=$who &&
					openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $who.ext -out $who.pem || exit 1
			done
		printf 'subjectAltName=DNS:localhost\n' >old.ext
		openssl x509 -req -in localhost.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days -1 -extfile old.ext -out old.pem
		printf 'joe:%s\n' "$(openssl passwd -apr1 s3cret)" >password
		chmod 644 password
	) >nginx/openssl.log 2>&1 || return 1
	tries=0
	while [ $tries -lt 5 ]; do
		tries=$((tries + 1))
		nginx_port=$("$here/faultd" --free) plain_port=$("$here/faultd" --free) wrong_port=$("$here/faultd" --free)
		old_port=$("$here/faultd" --free) mutual_port=$("$here/faultd" --free)
		nginx_conf "$1" >nginx/conf
		setpriv --pdeathsig TERM nginx -p "$PWD/nginx" -c "$PWD/nginx/conf" -g 'daemon off;' >>nginx/log 2>&1 &
		nginx_pid=$!
		running="$running $nginx_pid"
		if up "$nginx_pid" "$plain_port" /ready; then return 0; fi
		stop "$nginx_pid"
	done
	fail "nginx starts" nginx/log nginx/openssl.log
	return 1
}

# nginx_conf PORT: prints the configuration of nginx_tls
nginx_conf()
{
	user=
	[ "$(id -u)" != 0 ] || user='user root;'
	server()
	{
		echo "server { listen 127.0.0.1:$1 ssl; ssl_certificate $2.pem; ssl_certificate_key $3.key; $4 location / { $5 proxy_pass http://127.0.0.1:$to; } }"
	}
	to=$1
	cat <<-CONF
		$user
		worker_processes 1;
		pid $PWD/nginx/pid;
		error_log $PWD/nginx/error.log;
		events { worker_connections 64; }
		http {
		access_log off;
		client_body_temp_path $PWD/nginx/b; proxy_temp_path $PWD/nginx/p; fastcgi_temp_path $PWD/nginx/f; uwsgi_temp_path $PWD/nginx/u; scgi_temp_path $PWD/nginx/s;
		server { listen 127.0.0.1:$plain_port; location = /ready { return 200 "yes"; }
		location /small/ { client_max_body_size 60k; proxy_pass http://127.0.0.1:$to/; }
		location /moved { return 302 http://127.0.0.1:9/; }
		location /busy { add_header Retry-After 7 always; return 503; }
		location /slower { return 429; }
		location /forbidden { return 403; }
		location /broken { return 500; }
		location / { proxy_pass http://127.0.0.1:$to; } }
	CONF
	server "$nginx_port" localhost localhost "" "auth_basic pj; auth_basic_user_file $PWD/nginx/password; proxy_set_header Authorization '';"
	server "$wrong_port" elsewhere elsewhere "" ""
	server "$old_port" old localhost "" ""
	server "$mutual_port" localhost localhost "ssl_client_certificate ca.pem; ssl_verify_client on;" ""
	echo "}"
}
