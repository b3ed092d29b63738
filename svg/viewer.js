/*
 * The viewer in every SVG of pjsvg, the same bytes in each; docs/SVG.md describes what it reads.
 * Its idea: the tree is columns of numbers in preorder (the subtree of frame i is i .. end[i]-1), the DOM only what can
 * be seen. Every change draws the visible frames anew, so cost follows pixels, not frames: subtrees below config.min px
 * are jumped over, boxes of one colour share a path. Names come from strangers: they become text nodes, nothing else.
 */
(() => {
	'use strict';
	const svg=document.currentScript.ownerSVGElement, alone=svg===document.documentElement,
	part=c => svg.querySelector('script.pj-'+c).textContent,
	C=JSON.parse(part('c')), parts=part('d').split('\n\n'), room=parts[1].length+1;
	if (C.v!==1) return; // a later layout: the static picture stays

	// The tree: columns by name id, columns by frame (0 is the root).
	const [nm, par, dep, end]=[0, 0, 0, 0].map(() => new Int32Array(room)), [tot, self, beg]=[0, 0, 0].map(() => new Float64Array(room)),
	names=[], hue=[], digit=new Uint8Array(127);
	let n=1, rows=0, funcs=0, src, pos;
	for (let c=32, d=0; c<127; c++) if (!'&<>"\'\\`'.includes(String.fromCharCode(c))) digit[c]=d++;
	const next=() => digit[src.charCodeAt(pos++)], varint=() => {
		let v=0, f=1, d;
		for (; (d=next())>=44; f*=44) v+=(d-44)*f;
		return v+d*f;
	};
	for (src of parts[0].split('\n')) if (src) {
		pos=0;
		const last=names.at(-1) ?? '', same=next(), color=varint(), text=last.slice(0, same)+src.slice(pos);
		if (text!==last || !funcs) funcs++;
		names.push(text), hue.push(color);
	}
	nm[0]=names.push(C.root)-1, par[0]=-1;
	// mtf: each caller's move-to-front list, its front at the end; at: the last frame of each depth.
	// (Long loops stand in functions of their own with few free variables: these are compiled soon.)
	[n, rows]=((src, nm, par, dep, digit) => {
		const mtf=[], at=[0], size=src.length, more=v => {
			pos=p, v+=varint(), p=pos;
			return v;
		};
		let n=1, rows=0, p=0, d=0;
		for (; p<size; n++) {
			const head=digit[src.charCodeAt(p++)];
			let pop=head&7, k=head>>3;
			if (pop===7) pop=more(7);
			if (k===10) k=more(10);
			d+=1-pop;
			const up=at[d-1], list=mtf[nm[up]]||=[], id=k ? list[k=list.length-k] : more(0);
			if (head<8) k=list.push(id)-1;
			for (; k<list.length-1; k++) list[k]=list[k+1];
			list[k]=nm[n]=id, par[n]=up, dep[n]=d, at[d]=n;
			if (d>rows) rows=d;
		}
		return [n, rows];
	})(src=parts[1], nm, par, dep, digit);
	((n, par, dep, tot, self, beg, end) => {
		src=parts[2], pos=0;
		for (let i=1; pos<src.length; i++) i+=varint(), self[i]=varint()+1;
		for (let i=n-1; i; i--) {
			const up=par[i], t=tot[i]+=self[i];
			end[i]||=i+1, end[up]||=end[i], tot[up]+=t;
		}
		end[0]=n, tot[0]=Math.max(tot[0], C.total);
		const free=Array(rows+2).fill(0); // where the next frame of each depth begins
		for (let i=1, d; i<n; i++) d=dep[i], beg[i]=free[d+1]=free[d], free[d]+=tot[i];
	})(n, par, dep, tot, self, beg, end);

	// A path's hash is the sum of hash * K^distance. Siblings may differ in kind only, so the suffix counts.
	const kind=id => C.colors[hue[id]]?.[2] ?? -1, kindName=k => C.kinds[k]?.[0], suffix=id => C.kinds[kind(id)]?.[1] || '',
	hashes=[], hash=id => {
		if (id in hashes) return hashes[id];
		let h=7, t=names[id]+suffix(id);
		for (let i=0; i<t.length; i++) h=Math.imul(h^h>>>15, 33)+t.charCodeAt(i)|0;
		return hashes[id]=h;
	},
	pathOf=i => {
		let h=0;
		for (let k=1; i; i=par[i], k=Math.imul(k, 0x9e3779b1)) h+=Math.imul(hash(nm[i]), k);
		return (h>>>0).toString(36);
	},
	frameOf=path => {
		let i=path ? n : 1;
		while (--i && pathOf(i)!==path);
		return i;
	};

	// Numbers and names to read.
	const num=v => String(+v.toFixed(2)).replace(/\B(?=(\d{3})+(?!\d))/g, ','),
	many=(v, unit) => (v=num(v))+' '+(v==='1' ? unit.replace(/([a-z]{2}[a-rt-z])s$/i, '$1') : unit), weight=v => many(v*C.factor, C.unit || 'samples'),
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
	cut=(s, px, left) => { // what fits beside an ellipsis
		const all=[...s];
		let k=0;
		for (px-=wide(8230); k<all.length && (px-=wide(all.at(left ? -1-k : k).codePointAt()))>=0;) k++;
		return k<2 ? '' : left ? '\u2026'+all.slice(-k).join('') : all.slice(0, k).join('')+'\u2026';
	},
	label=(id, px) => {
		const s=names[id];
		if (C.truncate!=='smart') return fits(s, px) || cut(s, px, C.truncate==='left');
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
	make=ns => (tag, at, ...kids) => {
		const e=put(document.createElementNS('http://www.w3.org/'+ns, tag), at);
		e.append(...kids);
		return e;
	},
	g=make('2000/svg'), h=make('1999/xhtml'), div=(c, ...kids) => h('div', {class: 'pj-'+c}, ...kids),
	btn=(c, name, act, ...kids) => {
		const b=h('button', {class: 'pj-'+c, 'aria-label': name, title: name}, ...kids);
		b.onclick=act;
		return b;
	},
	input=h('input', {maxlength: 200, placeholder: 'Search ( / )', 'aria-label': 'Search', spellcheck: false}),
	count=h('span', {class: 'pj-n', 'aria-live': 'polite'}),
	caseB=btn('b', 'Match case', () => {cs=!cs, search()}, 'Aa'), rexB=btn('b', 'Regexp', () => {rx=!rx, search()}, '.*'),
	prevB=btn('b', 'Previous (Shift+N)', () => step(-1), '\u2039'), nextB=btn('b', 'Next (N)', () => step(1), '\u203a'),
	themeB=btn('th', 'Theme (D)', () => {keep(theme=dark ? 'light' : 'dark'), draw(), save()}, h('i')),
	list=a => a.filter(s => s).join(' \u00b7 '), legend=div('lg'),
	totals=div('t2', list([weight(tot[0]), many(n-1, 'frames'), many(funcs, 'functions'), 'depth '+rows, C.subtitle]));
	totals.title=C.notes;
	const head=div('hd', div('tt', div('t1', C.title), totals), div('tl', div('q', input, count, caseB, rexB), prevB, nextB, themeB), legend),
	ink=g('g', {'font-family': C.font, 'font-size': C.fs}), hovR=g('path', {class: 'pj-ov'}), selR=g('path', {class: 'pj-ov pj-on'}),
	view=g('svg', {class: 'pj-v'}, ink, hovR, selR),
	pane=put(div('sc', view), {tabindex: 0, role: 'application', 'aria-label': 'Flame graph'}),
	crumbs=put(div('cr'), {role: 'navigation', 'aria-label': 'Zoomed to'}), status=put(div('st'), {role: 'status', 'aria-live': 'polite'}),
	page=div('x', head, pane, crumbs, div('ft', status)), hole=g('foreignObject', {}, page);

	// State: what the address says; then what is of the moment (hov, sel: frame pointed at, chosen; only: a kind).
	let z=0, q, rx, cs, inv, theme, hits, found, area, turn, bad, hov=-1, sel=-1, only='', dark, paper, W, H=0, tall, scroll, lists;
	const chips=[], sys=matchMedia('(prefers-color-scheme: dark)'),
	keep=v => {
		try {
			return v ? localStorage.pjTheme=v : localStorage.pjTheme;
		} catch (e) { /* a sandbox */ }
	},
	save=push => {
		const f=(rx ? 'r' : '')+(cs ? 'c' : '')+(inv!==!!C.inverted ? 'i' : '');
		const to='#'+[z && 'z='+pathOf(z), q && 's='+encodeURIComponent(q), f && 'f='+f, theme && 'd='+theme].filter(s => s).join(';');
		try {
			if (alone && to!==(location.hash || '#')) history[push ? 'pushState' : 'replaceState'](null, '', to);
		} catch (e) { /* no address bar */ }
	},
	load=() => {
		const v=new URLSearchParams(alone ? location.hash.slice(1).replace(/;/g, '&') : ''), get=k => v.get(k) || '', f=get('f');
		input.value=q=get('s').slice(0, 200), rx=f.includes('r'), cs=f.includes('c'), inv=f.includes('i')!==!!C.inverted;
		theme=get('d').match(/^(dark|light)$|$/)[0], z=frameOf(get('z')), hov=sel=-1;
		// No link may freeze the page: a pattern that might backtrack for ever waits for Enter.
		search(1, rx && /\)[*+{?]|\\\d|([*+{].*){3}/.test(q));
	};

	// Search: the names (few), then one pass over the view.
	const search=(quiet, wait) => {
		let re;
		hits=null, bad=wait ? 'Enter to run' : '';
		try {
			if (q && !wait) re=new RegExp(rx ? q : q.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), cs ? '' : 'i');
		} catch (e) {
			bad='not a regexp';
		}
		if (re) hits=hue.map((_, id) => re.test(names[id]) || re.test(names[id]+suffix(id)));
		tally(), draw(), quiet || save();
	},
	tally=() => {
		found=[], area=0, turn=-1;
		for (let i=z, skip=0; hits && i<end[z]; i++) if (hits[nm[i]]) {
			found.push(i);
			if (i>=skip) area+=tot[i], skip=end[i]; // a match inside of a match counts once
		}
	},
	tell=() => {
		const k=found.length;
		count.textContent=bad || hits && (k ? list([pct(area, tot[z])+(z ? ' of view' : ''), (turn<0 ? '' : num(turn+1)+' of ')+num(k)]) : 'no match');
		put(input, {'aria-invalid': !!bad}), put(caseB, {'aria-pressed': cs}), put(rexB, {'aria-pressed': rx});
		prevB.disabled=nextB.disabled=!k;
	},
	step=by => {
		const k=found.length;
		if (turn<0) found.sort((a, b) => tot[b]-tot[a]); // the widest first, of equals from left to right
		if (!hits) search();
		else if (k) select(found[turn=turn<0 && by<0 ? k-1 : (turn+by+k)%k]), tell();
	};

	// Drawing.
	const light=hex => [.2126, .7152, .0722].reduce((sum, part, i) => sum+part*(parseInt(hex.slice(2*i+1, 2*i+3), 16)/255)**2.2, 0)>=.18,
	color=id => C.colors[hue[id]]?.[+dark] || (dark ? '#323740' : '#d2d5d8'),
	px=v => +v.toFixed(2), y=d => inv ? d*C.fh : H-(d+1)*C.fh,
	above=i => i<=z && end[i]>=end[z]; // z and its callers: full width
	const left=i => above(i) ? 0 : (beg[i]-beg[z])*W/tot[z], span=i => above(i) ? W : tot[i]*W/tot[z],
	outline=(i, w, r=0, x=left(i)+r) => `M${px(x)} ${y(dep[i]) + r}H${px(x + w - 2 * r)}v${C.fh - 1 - 2 * r}H${px(x)}z`,
	draw=() => {
		const t=theme || keep(), bg=C.bg && light(C.bg), seen=[], edge=[], paths=new Map(), texts=[];
		dark=!paper && (t ? t==='dark' : C.bg ? !bg : sys.matches);
		svg.classList.toggle('pj-dark', dark);
		svg.style.setProperty('--bg', bg===!dark ? C.bg : '');

		let deep=dep[z], i, w;
		for (i=z; i>=0; i=par[i]) seen.push(i);
		for (i=z+1; i<end[z]; i=w<C.min ? end[i] : i+1) if ((w=span(i))>=C.min) {
			const d=dep[i], right=Math.ceil(2*(left(i)+w));
			if (d>deep) deep=d;
			// Of slivers, one for each half pixel can be seen.
			if (w>=.5 || right!==edge[d] || hits && hits[nm[i]]) seen.push(i), edge[d]=right;
		}
		const grown=Math.max((deep+1)*C.fh, z && H)-H, top=pane.scrollTop+(inv ? 0 : grown);
		put(view, {width: W, height: H+=grown});
		if (grown) pane.scrollTop=top; // growth is sky: what was seen stays where it was
		tall=pane.clientHeight, scroll=pane.scrollTop;

		lists=[];
		for (i of seen) {
			const id=nm[i], d=dep[i], t=y(d);
			if (!paper && Math.abs(t-scroll-tall/2)>tall) continue;
			(lists[d]||=[]).push(i), w=span(i);
			const caller=i<z, match=!caller && hits && hits[id], dim=!match && (found.length || only && kindName(kind(id))!==only);
			const fill=match ? C.search || (dark ? '#ff5cc8' : '#d6249f') : color(id);
			const opacity=caller || dim ? caller && dim ? .2 : .3 : match || !C.legend ? 1 : 1-(hash(id)>>>9&3)*.05;
			const r=w<5 ? 0 : 1.5, key=fill+opacity+r; // a stroke of the same colour rounds the corners
			if (!paths.has(key)) paths.set(key, [{fill, opacity, stroke: r ? fill : 'none', 'stroke-width': 2*r}]);
			paths.get(key).push(outline(i, w<2 ? Math.max(w*.9, .5) : w-1, r));
			const s=w>=24 && texts.length<3500 && label(id, w-9);
			if (s) texts.push(g('text', {x: px(left(i)+4), y: px(t+C.fh/2+C.fs*.3), fill: caller || dim ? 'var(--mu)' : light(fill) ? '#16181d' : '#fff'}, s));
		}
		ink.replaceChildren(...[...paths.values()].map(([at, ...d]) => g('path', {...at, d: d.join('')})), ...texts);
		trail(), tell(), rings(), chips.forEach(f => f());
		if (!alone && !paper) put(hole, {height: innerHeight}), put(svg, {height: page.offsetHeight}); // a page gives no height
	};
	const trail=() => {
		const path=[];
		for (let i=z; z && i>=0; i=path.length<60 || !i ? par[i] : 0) {
			const to=i, id=nm[i], name=names[id];
			path.unshift(btn('b', name, () => zoom(to), forms(id).at(-2) || name));
		}
		crumbs.replaceChildren(...path);
		if (z) crumbs.scrollLeft=1e6;
	},
	rings=() => {
		for (const [e, i, least] of [[hovR, hov, 1], [selR, sel, 5]]) put(e, {d: above(i) || i>z && i<end[z] ? outline(i, Math.max(span(i)-1, least)) : ''});
		const i=hov>=0 ? hov : sel>=0 ? sel : z || -1, id=nm[i], box=h('i'), w=tot[i];
		if (i<0) return status.replaceChildren();
		box.style.background=color(id);
		status.replaceChildren(box, i && C.nametype ? C.nametype+' ' : '', h('b', {}, names[id]), h('span', {}, ' \u2014 '+list([
			weight(w),
			pct(w, tot[0])+' of total',
			i && pct(w, tot[par[i]])+' of caller',
			z && i>=z && pct(w, tot[z])+' of view',
			i && `self ${num(self[i]*C.factor)} (${pct(self[i], tot[0])})`,
			C.legend && kindName(kind(id)),
		])));
	};

	// Acting.
	const zoom=i => {
		if (i!==z) z=i, hov=sel=-1, tally(), draw(), save(true);
	},
	select=i => {
		sel=i, hov=-1, rings();
		selR.scrollIntoView({block: 'nearest'});
	},
	escape=() => {
		if (q) input.value=q='', sel=-1, search();
		else if (sel>=0) sel=-1, rings();
		else if (only) only='', draw();
		else zoom(0);
		pane.focus({preventScroll: true});
	},
	frameAt=ev => {
		const r=view.getBoundingClientRect(), x=ev.clientX-r.left, row=Math.floor((ev.clientY-r.top)/C.fh);
		const i=lists[inv ? row : H/C.fh-1-row]?.findLast(i => left(i)<=x) ?? -1;
		return x<left(i)+Math.max(span(i), 1) ? i : -1;
	},
	focus=() => {input.focus(), input.select()};

	view.onpointermove=ev => {
		const i=ev.pointerType==='touch' ? hov : frameAt(ev);
		if (i!==hov) hov=i, view.style.cursor=i<0 ? '' : 'pointer', rings();
	};
	view.onpointerleave=() => {hov=-1, rings()};
	view.onclick=ev => {
		const i=frameAt(ev);
		if (i>=0) (ev.pointerType==='touch' && sel!==i ? select : zoom)(i); // the first tap tells, the second zooms
	};
	pane.onscroll=() => {if (Math.abs(pane.scrollTop-scroll)>tall/2) draw()};
	input.oninput=() => {q=input.value, sel=-1, search()};
	const keys={'/': focus, n: step, 0: () => zoom(0), d: themeB.onclick, i: () => {inv=!inv, pane.scrollTop=H=0, draw(), save()},
		enter: () => sel>=0 && zoom(sel), backspace: () => z && zoom(par[z])};
	(alone ? document : page).addEventListener('keydown', ev => {
		const k=ev.key.toLowerCase(), cmd=ev.ctrlKey || ev.metaKey, on=ev.target.localName;
		const act=k==='f3' || cmd && k==='f' ? focus : cmd || ev.altKey ? 0 : k==='escape' ? escape
			: on==='input' ? k==='enter' && step : k==='enter' && on==='button' ? 0 : keys[k];
		if (act) ev.preventDefault(), act(ev.shiftKey ? -1 : 1);
	});

	// The data was good: out with the static picture, and inside a page with the title (a tooltip everywhere).
	for (const e of [...svg.children]) if (!/desc|style|script/.test(e.localName) && !(alone && e.localName==='title')) e.remove();
	svg.append(hole);
	const share=C.kinds.map(() => 0), sums=new Map(); // kinds that differ in their suffix only are one chip
	for (let i=1; i<n; i++) share[kind(nm[i])]+=self[i];
	share.forEach((v, k) => sums.set(kindName(k), v+(sums.get(kindName(k)) || 0)));
	for (const [name, v] of [...sums].sort((a, b) => b[1]-a[1] || (a[0]<b[0] ? -1 : 1))) if (C.legend && v>=tot[0]/1000) {
		const box=h('i'), color=C.colors.find(c => kindName(c[2])===name);
		const b=btn('k', name+': dim the rest', () => {only=only===name ? '' : name, draw()}, box, name, h('span', {}, pct(v, tot[0])));
		chips.push(() => {box.style.background=color[+dark], put(b, {'aria-pressed': only===name})});
		legend.append(b);
	}
	const size=(width, height) => {
		svg.removeAttribute('viewBox');
		put(svg, {role: 'group', width: C.width || '100%', height: '100%'}), put(hole, {width, height});
	};
	size('100%', '100%');
	ink.append(g('text', {}, String.fromCharCode(...Array(94).fill().map((_, i) => i+33))));
	for (let i=0; i<94; i++) ems[i+33]=ink.firstChild.getSubStringLength(i, 1) || C.cw*C.fs;
	W=Math.max(pane.clientWidth-24, 0);
	load();
	new ResizeObserver(() => {
		const w=pane.clientWidth-24;
		if (!paper && w>0 && (w!==W || pane.clientHeight>tall)) W=w, draw();
	}).observe(pane);
	sys.onchange=draw;
	if (alone) addEventListener('hashchange', load);
	addEventListener('beforeprint', () => { // on paper: everything, on one page, light
		paper=true, size(page.offsetWidth, 1e6), draw();
		put(svg, {viewBox: `0 0 ${page.offsetWidth} ${page.offsetHeight}`});
	});
	addEventListener('afterprint', () => {paper=false, size('100%', '100%'), draw()});
})();
