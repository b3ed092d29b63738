// couch.cjs - the CouchDB API in memory, on a free port of the loopback interface: node couch.cjs NODE_MODULES PORTFILE [PORT]
const [modules, portfile, port] = process.argv.slice(2);
const need = name => require(require.resolve(name, { paths: [modules] }));
const PouchDB = need('pouchdb-core').plugin(need('pouchdb-adapter-memory')).plugin(need('pouchdb-mapreduce')).plugin(need('pouchdb-find'));
const app = need('express')();
app.use('/', need('express-pouchdb')(PouchDB.defaults({ adapter: 'memory' }), { mode: 'minimumForPouchDB', inMemoryConfig: true }));
const server = app.listen(Number(port || 0), '127.0.0.1', () => {
	const fs = require('fs');
	fs.writeFileSync(portfile + '.new', server.address().port + '\n');
	fs.renameSync(portfile + '.new', portfile);
});
setTimeout(() => process.exit(0), 280000).unref(); // never longer than a test
