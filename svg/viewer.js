/*
 * The viewer in every SVG of pjsvg, the same bytes in each; docs/SVG.md describes what it reads.
 * Its idea: the tree is columns of numbers in preorder (the subtree of frame i is i .. end[i]-1), the DOM only what can
 * be seen. Every change draws the visible frames anew, so cost follows pixels, not frames: subtrees below config.min px
 * are jumped over, boxes of one colour share a path. Other views (callers first, sandwich, filters) are trees with the same
 * columns, derived from the one in the file. Names come from strangers: they become text nodes, nothing else.
 */
(() => {
	'use strict';
	const svg=document.currentScript.ownerSVGElement, alone=svg===document.documentElement,
	part=c => svg.querySelector('script.pj-'+c).textContent,
	C=JSON.parse(part('c')), parts=part('d').split('\n\n'), D=C.diff, sides=D ? [0, 1] : [0];
	if (C.v!==1) return; // a later layout: the static picture stays

	const {abs, imul, max, min, round}=Math;
	// A tree has columns by frame (0 is the root): name, caller, depth, end; self weights (s) and totals (t) of each side.
	// In a diff there is room behind it for what is gone. half: where the callers of a sandwich begin, they have depths below 0.
	const ints=k => new Int32Array(k), floats=k => new Float64Array(k), pair=k => sides.map(() => floats(k)),
	tree=(n, room=D ? 2*n+2 : n) => ({n, half: n, nm: ints(room), par: ints(room), dep: ints(room), end: ints(room), s: pair(room), t: pair(room)}),
	names=[], hue=[], fn=[], digit=new Uint8Array(256), bytes=k => new TextEncoder().encode(parts[k]);
	let rows=0, funcs=0, src, pos=0;
	for (let c=32, d=0; c<127; c++) if (!'&<>"\'\\`'.includes(String.fromCharCode(c))) digit[c]=d++;
	const byte=() => digit[src[pos++]], varint=(next=byte) => {
		let v=0, f=1, d;
		for (; (d=next())>=44; f*=44) v+=(d-44)*f;
		return v+d*f;
	},
	kind=id => C.colors[hue[id]]?.[2] ?? -1, kindName=k => C.kinds[k]?.[0], suffix=id => C.kinds[kind(id)]?.[1] || '',
	kernel=id => suffix(id)==='_[k]';
	(all => {
		const next=() => digit[all.charCodeAt(pos++)];
		let text='', to;
		for (; (to=all.indexOf('\n', pos))>0; pos=to+1) {
			const id=hue.length, same=next();
			hue.push(varint(next)), names.push(text=text.slice(0, same)+all.slice(pos, to));
			// One function may have names of several kinds (compiled, inlined); fn is the first of them. The kernel's are its own.
			fn.push(id);
			for (let k=id; names[--k]===text;) if (kernel(k)===kernel(id)) fn[id]=fn[k];
			if (fn[id]===id) funcs++;
		}
	})(parts[0] && parts[0]+'\n');
	const add=name => fn[names.length]=names.push(name)-1, ROOT=add(C.root), ONLY=add('only before'),
	base=tree(parts[1].length+1);
	// first, after: each caller's move-to-front list of names, its links numbered as they are made; at: the last frame of each depth.
	// (Long loops stand in functions of their own with few free variables: these are compiled soon.)
	base.n=base.half=((src, nm, par, dep, digit, first, after, name) => {
		const at=[0], size=src.length, more=v => {
			let f=1, d;
			for (; (d=digit[src[p++]])>=44; f*=44) v+=(d-44)*f;
			return v+d*f;
		};
		let n=1, p=0, d=0, made=0;
		for (nm[0]=ROOT, par[0]=-1; p<size; n++) {
			const head=digit[src[p++]];
			let pop=head&7, k=head>>3, prev=0;
			if (pop===7) pop=more(7);
			if (k===10) k=more(10);
			d+=1-pop;
			const up=at[d-1], list=nm[up];
			let link=k ? first[list] : ++made;
			if (!k) name[link]=more(0);
			while (--k>0) prev=link, link=after[link];
			if (prev) after[prev]=after[link];
			if (first[list]!==link) after[link]=first[list], first[list]=link;
			nm[n]=name[link], par[n]=up, dep[n]=d, at[d]=n;
			if (d>rows) rows=d;
		}
		return n;
	})(src=bytes(1), base.nm, base.par, base.dep, digit, ints(names.length), ints(base.n), ints(base.n));
	// A loop through what a frame calls, from the last: totals, and where subtrees end.
	const sum=(s, t, {n, half, par, end}) => {
		for (let i=n-1; i; i--) {
			const p=par[i];
			end[i]||=i+1, end[p]||=end[i], t[i]+=s[i];
			if (i<half || p) t[p]+=t[i];
		}
		t[0]+=s[0], end[0]=n;
		return t;
	},
	finish=T => {
		for (const c of sides) sum(T.s[c], T.t[c], T);
		return T;
	};
	// pause: in order of time, what a frame's caller has of its own between it and the callee before.
	const fill=(v, k) => {
		src=bytes(k), pos=0;
		for (let i=1; i<v.length && pos<src.length; i++) i+=varint(), v[i]=varint()+1;
		return v;
	}, pause=C.chart && fill(floats(base.nm.length), 3);
	for (const c of sides) fill(base.s[c], 2+c);
	finish(base);
	// What the file says of each frame in a diff, by shares and by counts: code and |z|.
	const verdicts=D ? [4, 5].map(k => {
		const code=new Uint8Array(base.n), z=new Float32Array(base.n);
		src=bytes(k), pos=0;
		for (let i=1; pos<src.length; i++) if (i+=varint(), (code[i]=varint())&7) z[i]=varint()/10;
		return {code, z};
	}) : [];

	// Derived trees. State: ops, a list of [what, text]: s widest first, r callers first, w sandwich, h hide, f only, x without (what a search finds).
	let T, ops=[], mode='A', byShare=D?.shares, nm, par, dep, end, tot, self, beg, n, half, g, rest, thin, plain, chains;
	// Frames are put into a trie by (caller, name), weights go to s; then nodes are ordered and numbered.
	const grow=(a, b=new a.constructor(2*a.length)) => (b.set(a), b),
	spread=(p, name) => {
		const h=imul(imul(p, 0x9e3779b1)+name, 0x85ebca6b);
		return h^h>>>15;
	},
	trie=(room, root) => {
		const t={k: 1, id: ints(room), up: ints(room), s: pair(room)};
		t.id[0]=root;
		let bits=2, slot;
		const find=(p, name) => {
			let h=spread(p, name), c;
			for (; c=slot[h&=slot.length-1]; h++) if (t.up[c]===p && t.id[c]===name) break;
			return h;
		}, table=() => {
			while (bits<2*t.id.length) bits*=2;
			slot=ints(bits);
			for (let c=1; c<t.k; c++) slot[find(t.up[c], t.id[c])]=c;
		};
		table();
		t.child=(p, name) => {
			let h=find(p, name);
			if (slot[h]) return slot[h];
			if (t.k===t.id.length) t.id=grow(t.id), t.up=grow(t.up), t.s=t.s.map(a => grow(a)), table(), h=find(p, name);
			t.id[t.k]=name, t.up[t.k]=p;
			return slot[h]=t.k++;
		};
		return t;
	},
	// Names from N on stand for callers.
	N=names.length,
	number=({k, id, up, s, same, turned, least}) => {
		const w=floats(k), first=ints(k), after=ints(k), no=ints(k), out=tree(k), todo=[0], {nm, par, dep}=out, heavy=op('s'), from=same && ints(k);
		for (const a of s) for (let c=0; c<k; c++) w[c]+=a[c];
		for (let c=k-1; c; c--) if (w[c]) w[up[c]]+=w[c], after[c]=first[up[c]], first[up[c]]=c;
		let n=0;
		while (todo.length) {
			const c=todo.pop(), i=no[c]=n++, p=par[i]=c ? no[up[c]] : -1, low=id[c]>=N, kids=[];
			nm[i]=id[c]%N, dep[i]=c && dep[p]+(low!==!!turned ? -1 : 1);
			if (low && i<out.half) out.half=i;
			if (from) from[i]=c;
			for (const k of sides) out.s[k][i]=s[k][c];
			for (let x=first[c]; x; x=after[x]) kids.push(x);
			if (kids.length>1) kids.sort((a, b) => (id[b]>=N)-(id[a]>=N) || heavy && w[a]-w[b] || id[b]-id[a]);
			for (const x of kids) todo.push(x);
		}
		out.n=n, out.half=min(out.half, n), out.from=from, out.least=least;
		return finish(out);
	},
	// Stacks from frame cur[e] outwards go into the trie below its root, all by one step at a time, so that what is too small
	// to be seen can end early: turned round, a tree may be very much larger.
	climb=(t, T, e, cur, wt, plus) => {
		const at=ints(e);
		let cost=0, m;
		for (let i=0; i<e; i++) cost+=abs(T.dep[cur[i]]);
		t.least=cost>4e6 && T.t.at(-1)[0]/1e5;
		for (; e; e=m) {
			m=0;
			for (let i=0; i<e; i++) {
				at[i]=t.child(at[i], T.nm[cur[i]]+plus), cur[i]=T.par[cur[i]];
				for (const c of sides) t.s[c][at[i]]+=wt[c][i];
			}
			const big=at.slice(0, e).map(x => sides.some(c => t.s[c][x]>=t.least));
			for (let i=0; i<e; i++) if (cur[i]>0 && big[i]) {
				for (const c of sides) t.s[c][at[i]]-=wt[c][i], wt[c][m]=wt[c][i];
				at[m]=at[i], cur[m++]=cur[i];
			}
		}
	},
	reversed=T => {
		const t=trie(T.n, ROOT), cur=ints(T.n), wt=pair(T.n);
		let e=0;
		for (let i=1; i<T.n; i++) {
			for (const c of sides) wt[c][e]=T.s[c][i];
			cur[e]=i, e+=wt.some(a => a[e]);
		}
		climb(t, T, e, cur, wt, 0);
		return t;
	},
	sandwich=(T, f) => {
		const t=trie(T.n, f), map=ints(T.n), cur=ints(T.n), wt=pair(T.n);
		let e=0, skip=0;
		for (let i=1; i<T.n; i++) {
			if (i<skip) map[i]=t.child(map[T.par[i]], T.nm[i]);
			else if (fn[T.nm[i]]===f) {
				skip=T.end[i];
				if (cur[e]=T.par[i]) for (const c of sides) wt[c][e]=T.t[c][i];
				e+=cur[e]>0;
			} else continue;
			for (const c of sides) t.s[c][map[i]]+=T.s[c][i];
		}
		climb(t, T, e, cur, wt, N);
		t.turned=C.reverse;
		return t;
	},
	filtered=acts => {
		const t=trie(base.n+1, ROOT), {n, nm, par}=base, map=ints(n), acc=ints(n), hide=new Uint8Array(N), mask=ints(N);
		let want=0;
		acts.forEach(([a, text], k) => {
			const bit=a==='x' ? 1<<30 : 1<<k, hit=a==='h' ? 0 : hitsFor(text), f=byHash(text);
			want|=a==='f' && bit;
			for (let id=0; id<N-2; id++) if (a==='h') hide[id]|=fn[id]===f; else if (hit[id]) mask[id]|=bit;
		});
		for (let i=1; i<n; i++) {
			const id=nm[i], a=acc[i]=acc[par[i]]|mask[id], m=map[i]=hide[id] ? map[par[i]] : t.child(map[par[i]], id);
			if ((a&want)===want && !(a>>30)) for (const c of sides) t.s[c][m]+=base.s[c][i];
		}
		t.same=!acts.length && t.k===n;
		return t;
	},
	op=a => ops.find(o => o[0]===a), without=a => op(a) && (ops=ops.filter(o => o[0]!==a)),
	rebuild=() => {
		const acts=ops.filter(o => 'hfx'.includes(o[0])), w=op('w'), f=w && byHash(w[1]);
		let made=acts.length || op('s') && !op('r') && !w ? number(filtered(acts)) : base;
		plain=made;
		if (w) made=number(sandwich(made, f));
		else if (op('r')) made=number(reversed(made));
		// What --total adds to the root is no stack: it stays while all stacks do.
		if (!D && !acts.length && !w) made.t[0][0]=max(made.t[0][0], C.total);
		T=made, lay();
	},
	// Widths and places. In a diff the widths are of before, of after, or of both (U: each frame's larger self weight).
	lay=() => {
		({n, nm, par, dep, end, half}=T), g=NaN;
		const k=D && mode==='A' ? 1 : 0;
		self=T.s[k], tot=T.t[k];
		if (mode==='U' && D) {
			const r=byShare ? D.sums[1]/D.sums[0] : 1, [b, a]=T.s;
			self=b.map((v, i) => max(v*r, a[i])), tot=sum(self, floats(self.length), T);
		}
		if (k && !op('w')) gone();
		chains=0;
		beg=((n, half, dep, tot, beg, free, gap) => {
			for (let i=1, d; i<n; i++) {
				if (i===half) free.fill(0);
				d=abs(dep[i]);
				if (gap) free[d]+=gap[i];
				if (i===g) free[1]=beg[i]=tot[0];
				else beg[i]=free[d+1]=free[d], free[d]+=tot[i];
			}
			return beg;
		})(n, half, dep, tot, floats(n), floats(T.n+2), T===base && pause);
	},
	// What is only before has no width after: it is shown to the right of the root, if it is more than noise. thin: its callers.
	gone=() => {
		const made=new Map(), [b, a]=T.s, [tb, ta]=T.t, copy=(i, up) => {
			nm[n]=nm[i], par[n]=up, dep[n]=dep[i], b[n]=a[n]=tb[n]=ta[n]=end[n]=0;
			return n++;
		};
		rest=0, g=n;
		copy(0, -1), nm[g]=ONLY, made.set(0, g);
		for (let i=1; i<T.n; i++) if (!ta[i] && tb[i]) {
			if ((look(i)[0]&31)>24) {
				const chain=[];
				for (let p=par[i]; !made.has(p); p=par[p]) chain.push(p);
				for (let p; p=chain.pop();) made.set(p, copy(p, made.get(par[p])));
				const to=n-i, up=made.get(par[i]);
				for (let k=i; k<end[i]; k++) b[copy(k, k>i ? par[k]+to : up)]=b[k];
			} else rest+=tb[i];
			i=end[i]-1;
		}
		for (let i=n-1; i>=g; i--) {
			end[i]||=i+1, ta[i]=tb[i]+=b[i];
			if (i>g) tb[par[i]]+=tb[i], end[par[i]]||=end[i];
		}
		thin=new Set(made.values());
		if (!tb[g]) n=g, g=NaN;
	},
	// As common/significance.h: [code, z] of one frame; of a pair of weights.
	before=i => T.t[0][i], now=i => i>=g ? 0 : T.t[1][i],
	look=i => {
		const f=T===base ? i : T.from?.[i], v=verdicts[+!byShare];
		return i>=T.n ? [28, 0] : !i ? [0, 0] : f>=0 ? [v.code[f], v.z[f]] : judge(before(i), now(i));
	},
	judge=(b, a) => {
		const [B, A]=D.sums, p=(a+b)/(A+B), x=byShare ? b/B : b, y=byShare ? a/A : a, by=abs(y-x), part=by/max(x, y) || 0, tested=D.counted && D.z>0,
		v=byShare ? D.dispersion*p*(1-p)*(1/A+1/B)+(D.drift*p*(1-p))**2 : D.dispersion*(a+b)+(D.drift*(a+b)/2)**2,
		z=tested && by ? by/Math.sqrt(v) : 0, inPoints=100*by/(byShare ? 1 : max(A, B)),
		level=!by || tested && z<D.z || inPoints<D.points || part<D.relative ? 0 : tested && z<3 || part<.1 ? 1 : part<.3 ? 2 : part<.6 ? 3 : 4;
		return [level && level+(y<x && 8)+(a && b ? 0 : 16), z, (y-x)*(byShare ? 100 : 100/max(A, B))];
	};

	// A path's hash is the sum of hash * K^distance. Siblings may differ in kind only, so the suffix counts.
	const hashes=ints(N), digest=id => hashes[id]||=(t => {
		let h=7;
		for (let i=0; i<t.length; i++) h=imul(h^h>>>15, 33)+t.charCodeAt(i)|0;
		return h;
	})(names[id]+suffix(id)),
	base36=h => (h>>>0).toString(36), byHash=text => fn.find(id => base36(digest(id))===text) ?? -1,
	pathOf=i => {
		let h=0;
		for (let k=1; i>0; i=par[i], k=imul(k, 0x9e3779b1)) h+=imul(digest(nm[i]), k);
		return base36(h);
	},
	frameOf=path => {
		const all=ints(n);
		for (let i=1; path && i<n; i++) if (base36(all[i]=digest(nm[i])+imul(all[par[i]], 0x9e3779b1))===path) return i;
		return 0;
	},

	// Numbers and names to read.
	num=v => String(+v.toFixed(2)).replace(/\B(?=(\d{3})+(?!\d))/g, ','),
	signed=(v, k) => (v<0 ? '\u2212' : '+')+abs(v).toFixed(k),
	many=(v, noun) => (v=num(v))+' '+(v==='1' ? noun.replace(/([a-z]{2}[a-rt-z])s$/i, '$1') : noun),
	units=C.unit==='bytes' ? ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] : ['ns', '\u00b5s', 'ms', 's'].slice(['ns', 'us', 'ms'].indexOf(C.unit)>>>0),
	amount=v => {
		const step=units[4] ? 1024 : 1000;
		let k=0;
		for (v*=C.factor; units[k+1] && abs(v)>=step; k++) v/=step;
		return units[k] ? many(v, units[k]) : num(v);
	},
	weight=v => units[0] ? amount(v) : many(v*C.factor, C.unit || 'samples'),
	pct=(a, b) => {
		const p=100*a/b || 0;
		return (p===0 || p===100 ? p : p<.005 ? '<0.01' : p.toFixed(p<1 ? 2 : 1))+'%';
	},
	bare=s => { // C++ and Rust without template arguments, parameters, return type
		for (let t; t!==s;) t=s, s=s.replace(/(?<!operator ?)(<[^<>]*>|\([^()]*\))|(?<=::)::/g, '');
		return s.replace(/ const$/, '').replace(/^.*(?<!operator) /, '');
	},
	known=[],
	forms=id => known[id]||=(s => { // ever shorter, at last the function alone
		const all=[s];
		let m;
		if (kindName(kind(id))==='process'); // no path and no packages, whatever it looks like
		else if (s.includes('::') && !s.includes(';::')) for (s=bare(s); s; s=s.split('::').slice(1).join('::')) all.push(s);
		else if (/\/|(^|\.)[A-Z]/.test(s) && (m=/^L?((?:[\w$-]+[/.])*)([\w$]+)(;?[.:#]+)([\w$<>]+)(\(.*)?$/.exec(s))) { // Java
			all.push(m[1].replace(/([\w$-])[\w$-]*[/.]/g, '$1.')+m[2]+m[3]+m[4], m[2]+m[3]+m[4], m[4]);
			all.owner=m[2].length;
		} else if (m=/^\w\S*\/(\w+\.(.*?(\w+)))$/.exec(s)) all.push(m[1], m[2], m[3]); // Go
		else if (m=/^\S*\/([^\s/]+)$/.exec(s)) all.push(m[1]); // a file
		return all;
	})(names[id]),
	ems=[], wide=c => ems[c] || (c<0x1100 || c===8230 ? ems[77] : C.fs),
	fits=(s, px) => {
		for (const c of s) if ((px-=wide(c.codePointAt()))<0) return;
		return s;
	},
	cut=(s, px, ahead) => { // what fits beside an ellipsis
		const all=[...s];
		let k=0;
		for (px-=wide(8230); k<all.length && (px-=wide(all.at(ahead ? -1-k : k).codePointAt()))>=0;) k++;
		return k<2 ? '' : ahead ? '\u2026'+all.slice(-k).join('') : all.slice(0, k).join('')+'\u2026';
	},
	label=(id, px) => {
		const s=names[id];
		if (C.truncate!=='smart' || fits(s, px)) return fits(s, px) || cut(s, px, C.truncate==='left');
		const all=forms(id), leaf=all.at(-1), whole=all.at(-2), found=all.find(t => t!==leaf && fits(t, px));
		if (found || !all.owner) return found || fits(leaf, px) || cut(leaf, px);
		const tail=cut(whole, px, 1); // says something with at least half of the class
		return tail.length-1>=whole.length-all.owner/2 ? tail : fits(leaf, px) || cut(leaf, px);
	};

	// The page: HTML controls around an inner SVG.
	const put=(e, at) => {
		for (const k in at) e.setAttribute(k, at[k]);
		return e;
	},
	press=(b, on) => put(b, {'aria-pressed': !!on}),
	trace=(e, d) => put(e, {d: d.join('')}),
	refill=(e, ...kids) => e.replaceChildren(...kids),
	make=ns => (tag, at, ...kids) => {
		const e=put(document.createElementNS('http://www.w3.org/'+ns, tag), at);
		e.append(...kids);
		return e;
	},
	g2=make('2000/svg'), h=make('1999/xhtml'), div=(c, ...kids) => h('div', {class: 'pj-'+c}, ...kids),
	btn=(c, name, act, ...kids) => {
		const b=h('button', {class: 'pj-'+c, 'aria-label': name, title: name}, ...kids);
		b.onclick=act;
		return b;
	},
	input=h('input', {maxlength: 200, placeholder: 'Search (/)', 'aria-label': 'Search', spellcheck: false}),
	count=h('span', {class: 'pj-n', 'aria-live': 'polite'}),
	caseB=btn('b', 'Match case', () => {cs=!cs, seek()}, 'Aa'), rexB=btn('b', 'Regexp', () => {rx=!rx, seek()}, '.*'),
	prevB=btn('b', 'Previous (Shift+N)', () => step(-1), '\u2039'), nextB=btn('b', 'Next (N)', () => step(1), '\u203a'),
	themeB=btn('th', 'Theme (D)', () => {keep(theme=dark ? 'light' : 'dark'), draw(), save()}, h('i')),
	tableB=btn('tb', D ? 'Largest changes (T)' : 'Functions (T)', () => table(), h('i')), helpB=btn('b', 'Help (?)', () => help(), '?'),
	list=a => a.filter(s => s).join(' \u00b7 '), legend=div('lg'), arrow=' \u2192 ',
	sums=D ? 'before '+amount(D.sums[0])+arrow+'after '+weight(D.sums[1])+' ('+signed(100*(D.sums[1]/D.sums[0]-1), 1)+'%)' : weight(max(base.t[0][0], C.total)),
	totals=div('t2', list([sums, many(base.n-1, 'frames'), many(funcs, 'functions'), 'depth '+rows, C.subtitle]));
	totals.title=C.notes;
	const head=div('hd', div('tt', div('t1', C.title), totals), div('tl', div('q', input, count, caseB, rexB), prevB, nextB, tableB, helpB, themeB), legend),
	ink=g2('g', {'font-family': C.font, 'font-size': C.fs}), [hatchR, kinR, hitR, hovR, selR]=['pj-ha', 'pj-ki', 'pj-hi', '', 'pj-on'].map(c => g2('path', {class: 'pj-ov '+c})),
	view=g2('svg', {class: 'pj-v'}, ink, hatchR, kinR, hitR, hovR, selR),
	pane=put(div('sc', view), {tabindex: 0, role: 'application', 'aria-label': 'Flame graph'}),
	chosen=put(div('cr'), {role: 'group', 'aria-label': 'View'}), crumbs=put(div('cr'), {role: 'navigation', 'aria-label': 'Zoomed to'}),
	status=put(div('st'), {role: 'status'}), panel=h('dialog', {class: 'pj-dl'}),
	page=div('x', head, pane, chosen, crumbs, div('ft', status), panel), hole=g2('foreignObject', {}, page);

	// State: what the address says; then what is of the moment (hov, sel: frame pointed at, chosen; only: a kind).
	let z=0, q, rx, cs, inv, theme, hits, found, area, turn, bad, hov=-1, sel=-1, only='', dark, paper, W, H=0, tall, scroll, lists, perWeight, low=0;
	const chips=[], sys=matchMedia('(prefers-color-scheme: dark)'), text={},
	keep=v => {
		try {
			return v ? localStorage.pjTheme=v : localStorage.pjTheme;
		} catch {} // a sandbox
	},
	save=push => {
		const f=(rx ? 'r' : '')+(cs ? 'c' : '')+(inv!==!!C.inverted ? 'i' : ''), m=D && (mode==='A' ? '' : mode)+(!byShare===!D.shares ? '' : '%');
		const to='#'+[z && 'z='+pathOf(z), q && 's='+encodeURIComponent(q), f && 'f='+f, ops.length && 'o='+encodeURIComponent(ops.map(o => o.join('')).join('\n')), m && 'm='+encodeURIComponent(m), theme && 'd='+theme].filter(s => s).join(';');
		try {
			if (alone && to!==(location.hash || '#')) history[push ? 'pushState' : 'replaceState'](null, '', to);
		} catch {} // no address bar
	},
	// Nothing may freeze the page: a pattern that might backtrack for long (more than one choice is repeated, or a group, or two
	// groups choose) is not run before somebody asks for it.
	risky=q => /\)[*+{?]|\\\d|([*+{?].*){2}|\|.*\).*\|/s.test(q.replace(/\\\W/g, '')),
	load=() => {
		const v=new URLSearchParams(alone ? location.hash.slice(1).replace(/;/g, '&') : ''), get=k => v.get(k) || '', f=get('f'), m=get('m');
		input.value=q=get('s').slice(0, 200), rx=f.includes('r'), cs=f.includes('c'), inv=f.includes('i')!==!!C.inverted;
		theme=get('d').match(/^(dark|light)$|$/)[0], mode=m.match(/[BAU]|$/)[0] || 'A', byShare=!!D?.shares!==m.includes('%');
		ops=[];
		for (const o of get('o').split('\n').slice(0, 20)) try {
			addOp(o[0], o.slice(1, 210), 1);
		} catch {} // not a filter
		rebuild(), H=0, z=frameOf(get('z')), hov=sel=-1;
		seek(1);
		if (low) center();
	},
	// Adds what the view is filtered by. One stands for each thing: callers first and sandwich exclude each other.
	addOp=(a, t='', link) => {
		if ('rs'.includes(a) ? t || C.chart && a==='s' : 'hw'.includes(a) ? byHash(t)<0 : !'fx'.includes(a) || link && t[0]&2 && risky(t) || !hitsFor(t).includes(true)) return;
		ops=ops.filter(o => 'rw'.includes(a) ? !'rw'.includes(o[0]) : o.join()!==a+','+t);
		ops.push([a, t]);
	},
	hitsFor=t => text[t]||=matching(t.slice(1), t[0]&2, t[0]&1),
	quoted=q => q.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
	matching=(q, rx, cs) => {
		const re=new RegExp(rx ? q : quoted(q), cs ? '' : 'i');
		return hue.map((_, id) => re.test(names[id]) || re.test(names[id]+suffix(id)));
	},
	said=([a, t]) => a==='s' ? 'widest first' : a==='r' ? C.reverse ? 'callees first' : 'callers first'+(T.least ? ' (\u2265 0.001%)' : '')
		: a==='h' ? 'without '+names[byHash(t)] : a==='w' ? 'sandwich: '+names[byHash(t)]
		: (a==='f' ? 'only ' : 'no stacks with ')+(t[0]&2 ? '/'+t.slice(1)+'/' : '\u201c'+t.slice(1)+'\u201d');

	// Search: the names (few), then one pass over the view.
	const seek=(quiet, go) => {
		const wait=rx && !go && risky(q);
		hits=null, bad=wait ? 'Enter to run' : '';
		try {
			if (q && !wait) hits=matching(q, rx, cs);
		} catch {
			bad='not a regexp';
		}
		tally(), draw(), quiet || save();
	},
	tally=() => {
		found=[], area=0, turn=-1;
		const last=z ? end[z] : n, most=z ? last : g || n;
		for (let i=z, skip=0; hits && i<last; i++) if (hits[nm[i]] && tot[i]) {
			found.push(i);
			if (i>=skip && i<most) area+=tot[i], skip=end[i]; // a match inside of a match counts once
		}
	},
	tell=() => {
		const k=found.length, part=z || plain!==base; // both halves of a sandwich have the same stacks
		count.textContent=bad || hits && (k ? list([(z || !op('w')) && pct(area, tot[z])+(part ? ' of view' : ''), (turn<0 ? '' : num(turn+1)+' of ')+num(k)]) : 'no match');
		put(input, {'aria-invalid': !!bad}), press(caseB, cs), press(rexB, rx);
		prevB.disabled=nextB.disabled=!k;
	},
	step=by => {
		const k=found.length;
		if (turn<0) found.sort((a, b) => tot[b]-tot[a] || a-b); // the widest first, of equals from left to right
		if (!hits) seek(0, 1);
		else if (k) choose(found[turn=turn<0 && by<0 ? k-1 : (turn+by+k)%k]), tell();
	};

	// Drawing.
	const light=hex => [.2126, .7152, .0722].reduce((sum, part, i) => sum+part*(parseInt(hex.slice(2*i+1, 2*i+3), 16)/255)**2.2, 0)>=.18,
	tint=code => D.ramp[+dark][4+(code&8 ? -1 : 1)*(code&7)],
	color=i => {
		const [code]=D ? look(i) : [0];
		return D && nm[i]<N-2 ? tint(code) : C.colors[hue[nm[i]]]?.[+dark] || (dark ? '#323740' : '#d2d5d8');
	},
	px=v => round(v*100)/100, row=d => d-low, y=d => inv ? row(d)*C.fh : H-(row(d)+1)*C.fh,
	above=i => z && i<=z && end[i]>=end[z]; // z and its callers: full width
	const leftOf=i => above(i) ? 0 : (beg[i]-beg[z])*perWeight+(!z && i>=g ? 8 : 0), span=i => above(i) ? W : tot[i]*perWeight,
	outline=(i, w, r=0, x=leftOf(i)+r) => 'M'+px(x)+' '+(y(dep[i])+r)+'H'+px(x+w-2*r)+'v'+(C.fh-1-2*r)+'H'+px(x)+'z',
	draw=() => {
		const t=theme || keep(), bg=C.bg && light(C.bg), seen=[], edge=[], paths=new Map(), texts=[], last=z ? end[z] : n, hatch=[], ring=[];
		dark=!paper && (t ? t==='dark' : C.bg ? !bg : sys.matches);
		svg.classList.toggle('pj-dark', dark);
		svg.style.setProperty('--bg', bg===!dark ? C.bg : '');
		perWeight=z || !g ? W/(tot[z] || 1) : (W-8)/(tot[0]+tot[g]), low=0;

		let deep=max(dep[z], 0), i, w;
		for (i=z; i>=0; i=par[i]) seen.push(i), low=min(low, dep[i]);
		for (i=z+1; i<last; i=w<C.min || !w ? end[i] : i+1) if ((w=span(i)) && w>=C.min) {
			const d=dep[i], right=Math.ceil(2*(leftOf(i)+w));
			if (d>deep) deep=d;
			if (d<low) low=d;
			// Of slivers, one for each half pixel can be seen.
			if (w>=.5 || right!==edge[d] || hits && hits[nm[i]]) seen.push(i), edge[d]=right;
		}
		trail(); // (its row has a height)
		const grown=max((row(deep)+1)*C.fh, z && H)-H, top=pane.scrollTop+(inv ? 0 : grown);
		put(view, {width: W, height: H+=grown});
		if (grown) pane.scrollTop=top; // growth is sky: what was seen stays where it was
		tall=pane.clientHeight, scroll=pane.scrollTop;

		lists=[];
		for (i of seen) {
			const id=nm[i], d=dep[i], t=y(d);
			if (!paper && abs(t-scroll-tall/2)>tall) continue;
			(lists[row(d)]||=[]).push(i), w=span(i);
			const caller=i!==z && above(i), isHit=!caller && hits && hits[id], dim=!isHit && (found.length || only && kindName(kind(id))!==only), ghost=i>=g && thin.has(i);
			const fill=isHit && !D ? C.search || (dark ? '#ff5cc8' : '#d6249f') : color(i);
			const opacity=caller || dim ? caller && dim ? .2 : .3 : isHit || D || !C.legend ? 1 : 1-(digest(id)>>>9&3)*.05;
			const r=w<5 ? 0 : 1.5, paint=fill+opacity+r+ghost, box=w<2 ? max(w*.9, .5) : w-1; // a stroke of the same colour rounds the corners
			if (!paths.has(paint)) paths.set(paint, [ghost ? {class: 'pj-gh'} : {fill, opacity, stroke: r ? fill : 'none', 'stroke-width': 2*r}]);
			paths.get(paint).push(outline(i, box, ghost ? .5 : r));
			if (D && isHit) ring.push(outline(i, max(box, 2)));
			// New code is hatched, so that it can be told from more of the same without colours.
			const x=leftOf(i), b=C.fh-1, s=w>=24 && texts.length<3000 && label(id, w-9);
			if (D && w>3 && (look(i)[0]&56)===16) for (let k=x; k+b/2<x+w; k+=7) hatch.push('M'+px(k)+' '+(t+b)+'l'+b/2+' '+-b);
			if (s) texts.push(g2('text', {x: px(x+4), y: px(t+C.fh/2+C.fs*.3), fill: caller || dim || ghost ? 'var(--mu)' : light(fill) ? '#16181d' : '#fff'}, s));
		}
		refill(ink, ...[...paths.values()].map(([at, ...d]) => g2('path', {...at, d: d.join('')})), ...texts);
		trace(hitR, ring), trace(hatchR, hatch);
		tell(), rings(), chips.forEach(f => f());
		if (!alone && !paper) put(hole, {height: innerHeight}), put(svg, {height: page.offsetHeight}); // a page gives no height
	};
	const trail=() => {
		const path=[];
		for (let i=z; z && i>=0; i=path.length<60 || !i ? par[i] : 0) {
			const to=i, id=nm[i], name=names[id];
			path.unshift(btn('b', name, () => zoom(to), forms(id).at(-2) || name));
		}
		refill(crumbs, ...path);
		if (z) crumbs.scrollLeft=1e6;
		refill(chosen, ...ops.map(o => btn('f', 'Undo: '+said(o), () => change(() => {ops=ops.filter(p => p!==o)}), said(o))));
	},
	// Before and after of a pair of weights, and what to think of it.
	part2=(v, c) => amount(v)+' ('+pct(v, c)+')', both=(b, a) => part2(b, D.sums[0])+arrow+part2(a, D.sums[1]),
	inPoints=(b, a) => signed(judge(b, a)[2], 2).replace(/\.?0+$/, '')+(byShare ? ' pp' : '%'),
	ratio=(b, a) => b && a ? '\u00d7'+num(byShare ? a/D.sums[1]/(b/D.sums[0]) : a/b) : a ? 'new' : b ? 'gone' : '',
	told=i => {
		const b=before(i), a=now(i), [code, z]=look(i), {s: [sb, sa]}=T, test=judge(b, a)[1];
		return ['before '+both(b, a).replace(arrow, arrow+'after '), inPoints(b, a), ratio(b, a), i && (sb[i] || sa[i]) && 'self '+both(sb[i], i<T.n ? sa[i] : 0),
			!i || i>=g && thin.has(i) ? i===g && rest && 'and '+weight(rest)+' in stacks too small to judge'
			: code&32 ? 'moved: same code, reached another way' : code&7 ? z && 'z '+num(+z.toFixed(1)) : D.counted && test<D.z ? 'within noise' : 'too small to matter'];
	},
	// All places of the function in frame i: how many, and their weight, places inside of places left out. The frames of each
	// function are a chain, made when somebody asks.
	places=i => {
		const [from, to]=i<half ? [1, half] : [half, g || n], two=[0, 0];
		let k=0, skip=0, j;
		if (!chains) {
			chains=[ints(N), ints(n)];
			((fn, nm, first, after) => {
				for (let i=n-1; i; i--) after[i]=first[fn[nm[i]]], first[fn[nm[i]]]=i;
			})(fn, nm, ...chains);
		}
		for (j=chains[0][fn[nm[i]]]; j; j=chains[1][j]) if (j>=from && j<to && (k++, j>=skip)) {
			skip=end[j];
			for (const c of sides) two[c]+=T.t[c][j];
		}
		return k>1 && num(k)+' places, '+(D ? both(...two) : pct(two[0], whole()))+' together';
	},
	comparing=() => byShare ? 'shares' : 'counts',
	whole=() => D ? D.sums[+(mode!=='B')] : max(base.t[0][0], C.total),
	outward=i => dep[i]<0 || !C.reverse!==!op('r'), // are its children its callers?
	extraOf=id => C.attrs?.find(a => a[0]===id),
	current=() => hov>=0 ? hov : sel>=0 ? sel : z || -1,
	rings=() => {
		const last=z ? end[z] : n, i=current(), id=nm[i], box=h('i'), w=tot[i], kin=[];
		for (const [e, i, least] of [[hovR, hov, 1], [selR, sel, 5]]) put(e, {d: above(i) || i>=z && i<last ? outline(i, max(span(i)-1, least)) : ''});
		if (i>0) for (const l of lists) for (const k of l || []) if (k!==i && fn[nm[k]]===fn[id] && span(k)>=1) kin.push(outline(k, span(k)-1));
		trace(kinR, kin);
		if (i<0) return refill(status);
		box.style.background=color(i);
		const turned=outward(i), extra=extraOf(id);
		refill(status, box, i && C.nametype ? C.nametype+' ' : '', h('b', {}, names[id]), h('span', {}, ' \u2014 '+list([
			extra?.[1],
			...D ? told(i) : [
				weight(w),
				pct(w, whole())+' of total',
				i && pct(w, tot[par[i]])+(turned ? ' of callee' : ' of caller'),
			],
			z && i>=z && pct(w, tot[z])+' of view',
			!D && i && !turned && 'self '+part2(self[i], whole()),
			i && places(i),
			C.legend && !D && kindName(kind(id)),
			extra?.[2] && 'Ctrl+click: '+extra[2],
		])));
	};

	// Acting.
	const renew=() => {
		hov=sel=-1, tally(), draw(), save(1);
	},
	zoom=i => {
		if (i!==z) z=i, renew();
	},
	choose=i => {
		sel=i, hov=-1, rings();
		selR.scrollIntoView({block: 'nearest'});
	},
	center=() => {
		pane.scrollTop=y(0)-tall/2, draw();
	},
	// What changes the tree keeps the zoom, where the same path is still there.
	change=how => {
		const path=pathOf(z);
		how(), rebuild();
		pane.scrollTop=H=0, z=frameOf(path), renew();
		if (low) center();
	},
	escape=() => {
		if (q) input.value=q='', sel=-1, seek();
		else if (sel>=0) sel=-1, rings();
		else if (only) only='', draw();
		else if (z) zoom(0);
		else if (ops.length) change(() => ops.pop());
		toPane();
	},
	frameAt=ev => {
		const r=view.getBoundingClientRect(), x=ev.clientX-r.left, row=Math.floor((ev.clientY-r.top)/C.fh);
		const i=lists[inv ? row : H/C.fh-1-row]?.findLast(i => leftOf(i)<=x) ?? -1;
		return x<leftOf(i)+max(span(i), 1) ? i : -1;
	},
	toPane=() => pane.focus({preventScroll: true}),
	focus=() => {input.focus(), input.select()},
	say=t => refill(status, t),
	exact=id => '^'+quoted(names[id])+'$',
	byTerm=a => {
		const i=current(), t=hits ? (rx ? 2 : 0)+(cs ? 1 : 0)+q : i>0 && '3'+exact(nm[i]);
		if (!t || hits && !found.length) say('Search first.');
		else change(() => addOp(a, t));
	},
	byFrame=a => {
		const i=current();
		if (i<1) say('Point at a frame.');
		else change(() => addOp(a, base36(digest(fn[nm[i]]))));
	},
	copy=all => {
		const i=max(current(), 0), path=[], name=i => names[nm[i]]+suffix(nm[i]);
		for (let k=i; k>0 || k===0 && op('w'); k=par[k]) path.push(name(k));
		if (!outward(i)) path.reverse();
		const t=all<0 ? path.join(';') : name(i), done=() => say('Copied: '+t), old=() => {
			const box=h('textarea', {}, t);
			page.append(box), box.select();
			if (document.execCommand('copy')) done();
			else say('Copy: '+t);
			box.remove(), toPane();
		};
		if (navigator.clipboard) navigator.clipboard.writeText(t).then(done, old);
		else old();
	},
	// by: 1 up, -1 down on the screen. Callees are above, or below when the root is on top.
	climbTo=by => {
		let i=current();
		if (i<0) return choose(0);
		const d=dep[i]+(inv ? -by : by);
		let to=dep[par[i]]===d ? par[i] : -1;
		for (let c=i+1; c<end[i]; c=end[c]) if (dep[c]===d && tot[c] && !(tot[c]<=tot[to])) to=c;
		if (to>=0 && (above(to) || to>=z)) choose(to);
	},
	aside=by => {
		const i=current(), l=lists[row(dep[i])] || [], k=by>0 ? l.find(k => k>i) : l.findLast(k => k<i);
		if (i<0) choose(0);
		else if (k>=0) choose(k);
	},
	modes=!D ? [] : [['B', 'before'], ['A', 'after'], ['U', 'both']].map(([m, t]) => [m, t, () => change(() => {mode=m})]),
	toggleOp=a => change(() => {without(a) || addOp(a)}),
	show=(name, ...kids) => {
		put(panel, {'aria-label': name});
		refill(panel, btn('x2', 'Close (Esc)', () => panel.close(), '\u00d7'), h('h2', {}, name), ...kids);
		panel.open || panel.showModal();
	},
	// Every key, as a button too: the menu of those who have no keyboard.
	menu=[['/', 'Search', focus], ['N', 'Next match', step], ['Shift+N', 'Previous match', step, -1],
		['T', D ? 'Largest changes' : 'Table of functions', () => table()],
		['R', C.reverse ? 'Callees first' : 'Callers first', () => toggleOp('r')], ['W', 'Callers and callees', () => byFrame('w')],
		['H', 'Hide a function', () => byFrame('h')], ['Shift+H', 'Show hidden', () => change(() => without('h'))],
		['F', 'Only matches', () => byTerm('f')], ['X', 'Without matches', () => byTerm('x')],
		['S', 'Widest first', () => toggleOp('s')], ['I', 'Turn over', () => {inv=!inv, pane.scrollTop=H=0, draw(), save(), low && center()}],
		['C', 'Copy name', copy], ['Shift+C', 'Copy whole stack', copy, -1], ['D', 'Dark or light', themeB.onclick],
		['0', 'Whole graph', () => zoom(0)], ['Backspace', 'Zoom out', () => z && zoom(max(par[z], 0))], ['Enter', 'Zoom in', () => sel>=0 && zoom(sel)],
		...modes.map(([m, t, act]) => [m, 'Widths: '+t, act]), ...D ? [['%', 'Shares or counts', () => change(() => {byShare=!byShare})]] : [],
		['?', '', () => help()]],
	help=() => show('Keys and actions', div('mn', ...menu.slice(0, -1).map(([k, t, act, by=1]) => {
		const b=h('button', {}, h('kbd', {}, k), t);
		b.onclick=() => {panel.close(), act(by)};
		return b;
	})), h('p')),
	// Functions of the filtered stacks, or below the zoomed frame: totals count places inside of places once.
	table=(by=0) => {
		const turned=op('r') || op('w'), t=turned ? plain : T, from=turned ? 0 : z, last=turned || !z ? t.n : end[z];
		const own=pair(N), all=pair(N), until=ints(N), idle=ints(N), size=whole(), rows=[], cells=[], [b, a]=own;
		for (const c of sides) {
			until.fill(0);
			for (let i=max(from, 1); i<last; i++) {
				const f=fn[t.nm[i]], w=t.t[c][i];
				own[c][f]+=C.reverse ? t.dep[i]===1 && w : t.s[c][i];
				if (i>=until[f]) all[c][f]+=w, until[f]=t.end[i];
				// What was only moved is no change.
				if (c && t===base) idle[f]|=verdicts[+!byShare].code[i]&32;
			}
		}
		const rank=f => D ? abs(judge(b[f], a[f])[2]) : (by ? all[0] : b)[f];
		for (let f=0; f<N-2; f++) if (D ? !idle[f] && judge(b[f], a[f])[0] : all[0][f]) rows.push(f);
		rows.sort((f, k) => rank(k)-rank(f) || all[0][k]-all[0][f]);
		const cell=t => h('td', {}, t), th=(t, k) => h('th', {scope: 'col', ...k>=0 && {'aria-sort': k===by ? 'descending' : 'none'}}, k>=0 ? btn('b', 'Sort by '+t, () => table(k), t) : t);
		for (const f of rows.slice(0, D ? 50 : 200)) {
			const name=h('button', {}, names[f]), box=h('i'), code=D ? judge(b[f], a[f])[0] : 0;
			box.style.background=D ? tint(code) : C.colors[hue[f]][+dark];
			const row=h('tr', {}, ...D ? [amount(b[f]), amount(a[f]), inPoints(b[f], a[f]), ratio(b[f], a[f])].map(cell)
				: [pct(b[f], size), amount(b[f]), pct(all[0][f], size)].map(cell), h('th', {scope: 'row'}, box, name));
			row.onclick=() => {
				const t=exact(f);
				rx=cs=t.length<=200, input.value=q=rx ? t : names[f].slice(0, 200), sel=-1;
				panel.close(), seek(), toPane();
			};
			cells.push(row);
		}
		const title=D ? 'Changes of self '+(C.unit || 'samples') : 'Functions'+(from ? ' below '+names[nm[z]] : '');
		show(title, h('table', {}, h('caption', {}, D ? rows.length ? 'significant ones, by '+comparing() : 'none' : rows.length>200 ? 'the first 200 of '+num(rows.length) : num(rows.length)),
			h('thead', {}, h('tr', {}, ...D ? ['Before', 'After', 'Change', '', 'Function'].map(t => th(t)) : [th('Self', 0), th(''), th('Total', 1), th('Function')])), h('tbody', {}, ...cells)));
	};

	view.onpointermove=ev => {
		const i=ev.pointerType==='touch' ? hov : frameAt(ev);
		if (i!==hov) hov=i, view.style.cursor=i<0 ? '' : 'pointer', rings();
	};
	view.onpointerleave=() => {hov=-1, rings()};
	view.onclick=ev => {
		const i=frameAt(ev), link=extraOf(nm[i])?.[2];
		if (ev.ctrlKey || ev.metaKey) { // no address but of the web
			if (link && /^(https?:|[^:]*$|[^:]*[/?#])/i.test(link)) open(link, '_blank', 'noopener');
		} else if (i>=0) (ev.pointerType==='touch' && sel!==i ? choose : zoom)(i); // the first tap tells, the second zooms
	};
	pane.onscroll=() => {if (abs(pane.scrollTop-scroll)>tall/2) draw()};
	input.oninput=() => {q=input.value, sel=-1, seek()};
	panel.onclick=ev => {if (ev.target===panel) panel.close()};
	const keys={home: () => zoom(0), arrowup: () => climbTo(1), arrowdown: () => climbTo(-1), arrowleft: () => aside(-1), arrowright: () => aside(1)};
	for (const [k, , act, by=1] of menu) keys[k.toLowerCase()]=() => act(by);
	(alone ? document : page).addEventListener('keydown', ev => {
		const k=ev.key.toLowerCase(), cmd=ev.ctrlKey || ev.metaKey, on=ev.target.localName;
		const act=panel.open ? k==='escape' && (() => panel.close()) : k==='f3' || cmd && k==='f' ? focus : cmd || ev.altKey ? 0 : k==='escape' ? escape
			: on==='input' ? k==='enter' && (() => step(ev.shiftKey ? -1 : 1)) : k==='enter' && on==='button' ? 0 : keys[(ev.shiftKey && k>='a' && k<='z' ? 'shift+' : '')+k];
		if (act) ev.preventDefault(), act();
	});

	// The data was good: out with the static picture, and inside a page with the title (a tooltip everywhere).
	for (const e of [...svg.children]) if (!/desc|style|script/.test(e.localName) && !(alone && e.localName==='title')) e.remove();
	svg.append(hole);
	if (alone) svg.prepend(h('meta', {name: 'viewport', content: 'width=device-width'})); // phones take 980 px otherwise
	const painted=floats(C.colors.length), shareOf=new Map(); // kinds that differ in their suffix only are one chip
	((n, nm, s) => {
		for (let i=1; i<n; i++) painted[hue[nm[i]]]+=s[i];
	})(base.n, base.nm, base.s[0]);
	C.colors.forEach(([, , k], c) => shareOf.set(kindName(k), painted[c]+(shareOf.get(kindName(k)) || 0)));
	for (const [name, v] of [...shareOf].sort((a, b) => b[1]-a[1] || (a[0]<b[0] ? -1 : 1))) if (C.legend && !D && v>=whole()/1000) {
		const box=h('i'), color=C.colors.find(c => kindName(c[2])===name);
		const b=btn('k', name+': dim the rest', () => {only=only===name ? '' : name, draw()}, box, name, h('span', {}, pct(v, whole())));
		chips.push(() => {box.style.background=color[+dark], press(b, only===name)});
		legend.append(b);
	}
	if (D) {
		const boxes=D.ramp[0].map(() => h('i')), by=btn('k', 'Shares or counts (%)', () => keys['%'](), '');
		legend.append(div('k', 'less', div('ra', ...boxes), 'more'), div('nw', 'new'), by, put(div('sg', ...modes.map(([m, t, act]) => {
			const b=btn('b', 'Widths: '+t+' ('+m+')', act, t);
			chips.push(() => press(b, mode===m));
			return b;
		})), {role: 'group', 'aria-label': 'Widths'}), h('span', {class: 'pj-no'}, D.note));
		chips.push(() => {boxes.forEach((b, i) => {b.style.background=D.ramp[+dark][i]}), by.textContent='compared as '+comparing()});
	}
	const size=(width='100%', height=width) => {
		svg.removeAttribute('viewBox');
		put(svg, {role: 'group', width: C.width || '100%', height: '100%'}), put(hole, {width, height});
	};
	size();
	const pen=h('canvas').getContext('2d'); // (measures what is not shown, too: a closed tab's graph)
	pen.font=C.fs+'px '+C.font;
	for (let i=33; i<127; i++) ems[i]=pen.measureText(String.fromCharCode(i)).width || C.cw*C.fs;
	W=max(pane.clientWidth-24, 0);
	load();
	new ResizeObserver(() => {
		const w=pane.clientWidth-24;
		if (!paper && w>0 && (w!==W || pane.clientHeight>tall)) W=w, draw();
	}).observe(pane);
	sys.onchange=draw;
	if (alone) addEventListener('hashchange', load);
	addEventListener('beforeprint', () => { // on paper: everything, on one page, light
		paper=1, size(page.offsetWidth, 1e6), draw();
		put(svg, {viewBox: '0 0 '+page.offsetWidth+' '+page.offsetHeight});
	});
	addEventListener('afterprint', () => {paper=0, size(), draw()});
})();
