/*
 * The viewer inside every SVG of pjsvg; the same bytes in each file, described in docs/SVG.md.
 *
 * One idea: the tree lies in flat columns of numbers in preorder (the subtree of frame i is i .. end[i] - 1), and the
 * DOM holds what can be seen and no more. Every change draws the visible frames anew, so cost follows pixels, not
 * frames: subtrees narrower than config.min are jumped over, and boxes of one colour share one path.
 * Names come from strangers: they become text nodes, never markup. A test checks that this file does not spell the end
 * of a script or of CDATA, or the start of a comment.
 */
(() => {
	'use strict';
	const svg = document.currentScript.ownerSVGElement, alone = svg === document.documentElement;
	const part = c => svg.querySelector('script.pj-' + c).textContent;
	const C = JSON.parse(part('c')), parts = part('d').split('\n\n'), room = parts[1].length + 1;
	if (C.v !== 1) return; // a later layout: the static picture stays

	// The tree: columns by name id, columns by frame (frame 0 is the root).
	const names = [], hue = [], ints = () => new Int32Array(room), reals = () => new Float64Array(room);
	const nm = ints(), par = ints(), dep = ints(), end = ints(), tot = reals(), self = reals(), beg = reals();
	let n = 1, rows = 0, functions = 0, src, pos;

	const digit = [];
	for (let c = 32, d = 0; c < 127; c++) if (!'&<>"\'\\`'.includes(String.fromCharCode(c))) digit[c] = d++;
	const next = () => digit[src.charCodeAt(pos++)];
	const varint = () => {
		let v = 0, f = 1, d;
		for (; (d = next()) >= 44; f *= 44) v += (d - 44) * f;
		return v + d * f;
	};
	for (src of parts[0].split('\n')) if (src) {
		pos = 0;
		const last = names.at(-1) ?? '', same = next(), color = varint(), text = last.slice(0, same) + src.slice(pos);
		if (!names.length || text !== last) functions++;
		names.push(text), hue.push(color);
	}
	nm[0] = names.push(C.root) - 1, par[0] = -1;

	const callees = [], at = [0]; // each caller's move-to-front list; the last frame of each depth
	for (src = parts[1], pos = 0; pos < src.length; n++) {
		const head = next();
		let pop = head & 7, k = head >> 3, id;
		if (pop === 7) pop += varint();
		if (k === 10) k += varint();
		const d = dep[n - 1] + 1 - pop, up = at[d - 1], list = callees[nm[up]] ||= [];
		if (!k) list.unshift(id = varint());
		else if (id = list[k - 1], k > 1) list.splice(k - 1, 1), list.unshift(id);
		nm[n] = id, par[n] = up, dep[n] = d, at[d] = n;
		if (d > rows) rows = d;
	}
	src = parts[2], pos = 0;
	for (let i = 1; pos < src.length; i++) i += varint(), self[i] = varint() + 1;
	for (let i = n; i--;) {
		end[i] ||= i + 1, tot[i] += self[i];
		if (i) end[par[i]] ||= end[i], tot[par[i]] += tot[i];
	}
	tot[0] = Math.max(tot[0], C.total);
	const free = Array(rows + 2).fill(0); // where the next frame of each depth begins
	for (let i = 1, d; i < n; i++) d = dep[i], beg[i] = free[d + 1] = free[d], free[d] += tot[i];

	// Kind is part of identity here: siblings that differ in nothing else are two boxes.
	const kindOf = id => id < hue.length ? C.colors[hue[id]][2] : -1, suffix = id => (C.kinds[kindOf(id)] || '  ')[1];
	const K = 0x9e3779b1, hash = names.map((t, id) => [...t + suffix(id)].reduce((h, c) => Math.imul(h ^ h >>> 15, 33) + c.codePointAt() | 0, 7));
	const pathHash = i => { // sum of hash * K^distance
		let h = 0;
		for (let k = 1; i; i = par[i], k = Math.imul(k, K)) h = h + Math.imul(hash[nm[i]], k) | 0;
		return (h >>> 0).toString(36);
	};
	const frameOf = want => {
		for (let i = 1, h = [0]; i < n; i++) if ((h[dep[i]] = Math.imul(h[dep[i] - 1], K) + hash[nm[i]] | 0) >>> 0 === want) return i;
		return 0;
	};

	// Numbers and names for people.
	const number = v => v.toLocaleString('en-US', { maximumFractionDigits: 2 }), weight = v => number(v * C.factor);
	const percent = (a, b) => {
		const p = b && 100 * a / b;
		return (p === 0 || p === 100 ? p : p < .005 ? '<0.01' : p.toFixed(p < 1 ? 2 : 1)) + '%';
	};
	const shift = by => t => t.replace(/./g, c => String.fromCharCode(c.charCodeAt() + by));
	const bare = s => { // C++, Rust: no template arguments, parameters, return type; operators hide meanwhile
		s = s.replace(/operator *(\(\)|new|delete|[<>=-]+)|\(anonymous namespace\)|->/g, shift(0xe000));
		for (let t; t !== s;) t = s, s = s.replace(/<[^<>]*>|\([^()]*\)/g, '');
		return s.replace(/ const$/, '').replace(/^.* /, '').replace(/[\ue000-\ue0ff]+/g, shift(-0xe000));
	};
	const spellings = s => { // ever shorter, at last the function alone
		const all = [s];
		let m;
		if (s.includes('::')) for (s = bare(s); s; s = s.split('::').slice(1).join('::')) all.push(s);
		else if ((m = /^((?:[\w$-]+[/.])*)([\w$]+)[.:#]+([\w$<>]+)$/.exec(s)) && /\/|(^|\.)[A-Z]/.test(s))
			all.push(m[1].replace(/([\w$-])[\w$-]*[/.]/g, '$1.') + m[2] + '.' + m[3], m[2] + '.' + m[3], m[3]);
		else if (m = /.\/((?:\w+\.)?([^/]+))$/.exec(s)) all.push(m[1], m[2], /\w*$/.exec(s)[0] || m[2]); // Go, files
		return all;
	};
	const widths = [], wide = c => widths[c] || (c < 0x1100 || c === 8230 ? widths[77] : C.fs);
	const fits = (s, px) => {
		for (let i = 0; i < s.length && px >= 0; i++) px -= wide(s.charCodeAt(i));
		return px >= 0;
	};
	const cut = (s, px, left) => { // what fits beside an ellipsis
		const all = [...s];
		let k = 0;
		for (px -= wide(8230); k < all.length && (px -= wide(all.at(left ? -1 - k : k).codePointAt())) >= 0;) k++;
		return k < 2 ? '' : left ? '\u2026' + all.slice(-k).join('') : all.slice(0, k).join('') + '\u2026';
	};
	const label = (s, px) => {
		if (fits(s, px)) return s;
		if (C.truncate !== 'smart') return cut(s, px, C.truncate === 'left');
		const all = spellings(s), leaf = all.pop(), whole = all.at(-1) || '', tail = cut(whole, px, 1);
		return all.find(t => fits(t, px)) || (whole.endsWith(leaf) && tail.length > leaf.length + 3 ? tail : fits(leaf, px) ? leaf : cut(leaf, px));
	};

	// The page: HTML controls around an inner SVG.
	const put = (e, at) => {
		for (const k in at) e.setAttribute(k, at[k]);
		return e;
	};
	const make = ns => (tag, at, ...kids) => {
		const e = put(document.createElementNS('http://www.w3.org/' + ns, tag), at);
		e.append(...kids);
		return e;
	};
	const g = make('2000/svg'), h = make('1999/xhtml'), div = (c, ...kids) => h('div', { class: 'pj-' + c }, ...kids);
	const button = (c, name, act, ...kids) => {
		const b = h('button', { class: 'pj-' + c, 'aria-label': name, title: name }, ...kids);
		b.onclick = act;
		return b;
	};
	const flip = f => () => { f(), search(); };
	const input = h('input', { maxlength: 200, placeholder: 'Search ( / )', 'aria-label': 'Search functions', spellcheck: false });
	const count = h('span', { class: 'pj-n', 'aria-live': 'polite' });
	const caseB = button('b', 'Match case', flip(() => cs = !cs), 'Aa'), rexB = button('b', 'Regular expression', flip(() => rx = !rx), '.*');
	const prevB = button('b', 'Previous match (Shift+N)', () => step(-1), '\u2039'), nextB = button('b', 'Next match (N)', () => step(1), '\u203a');
	const themeB = button('th', 'Dark or light (D)', () => { theme = dark ? 'light' : 'dark', stored(theme), draw(), save(); }, h('i'));
	const unit = C.unit || 'samples', dot = ' \u00b7 ', legend = div('lg');
	const totals = div('t2', [weight(tot[0]) + ' ' + unit, number(n - 1) + ' frames', number(functions) + ' functions', 'depth ' + rows, C.subtitle]
		.filter(s => s).join(dot));
	totals.title = C.notes;
	const head = div('hd', div('tt', div('t1', C.title), totals), div('tl', div('q', input, count, caseB, rexB), prevB, nextB, themeB), legend);
	const ink = g('g', { 'font-family': C.font, 'font-size': C.fs }), hovR = g('path', { class: 'pj-ov' }), selR = g('path', { class: 'pj-ov pj-on' });
	const view = g('svg', { class: 'pj-v' }, ink, hovR, selR);
	const pane = put(div('sc', view), { tabindex: 0, role: 'application', 'aria-label': 'Flame graph: arrow keys move, Enter zooms' });
	const crumbs = put(div('cr'), { role: 'navigation', 'aria-label': 'Zoomed to' }), status = put(div('st'), { role: 'status', 'aria-live': 'polite' });
	const page = div('x', head, pane, crumbs, div('ft', status)), hole = g('foreignObject', {}, page);

	// State: what the address says, then what is of the moment (hov, sel: frames pointed at and chosen; only: a kind).
	let z = 0, q = '', rx = false, cs = false, inv = false, theme = '';
	let hits, found = [], area = 0, turn = -1, bad = '', hov = -1, sel = -1, only = -1, dark, paper, W = 0, H = 0, base = 0, drawn = [], lists = [];
	const chips = [], system = matchMedia('(prefers-color-scheme: dark)');
	const stored = v => {
		try {
			return v ? localStorage.setItem('pj-theme', v) : localStorage.getItem('pj-theme');
		} catch (e) { /* a sandbox: not kept, then */ }
	};
	const save = push => {
		const f = (rx ? 'r' : '') + (cs ? 'c' : '') + (inv !== !!C.inverted ? 'i' : '');
		const to = '#' + [z && 'z=' + pathHash(z), q && 's=' + encodeURIComponent(q), f && 'f=' + f, theme && 'd=' + theme].filter(s => s).join(';');
		try {
			if (alone && to !== (location.hash || '#')) history[push ? 'pushState' : 'replaceState'](null, '', to);
		} catch (e) { /* no address to keep it in */ }
	};
	const restore = () => {
		const v = new URLSearchParams(alone ? location.hash.slice(1).replace(/;/g, '&') : ''), f = v.get('f') || '', d = v.get('d');
		input.value = q = (v.get('s') || '').slice(0, 200), rx = f.includes('r'), cs = f.includes('c'), inv = f.includes('i') !== !!C.inverted;
		theme = d === 'dark' || d === 'light' ? d : '', z = frameOf(parseInt(v.get('z'), 36)), hov = sel = -1;
		// A link must not freeze the page: a pattern that might backtrack for ever waits for Enter.
		search(true, rx && /\)[*+{?]|\\\d|([*+{].*){3}/.test(q));
	};

	// Search: the names (few), then one pass over the view.
	const search = (quiet, wait) => {
		let re;
		hits = null, bad = wait ? 'Enter to run' : '';
		try {
			if (q && !wait) re = new RegExp(rx ? q : q.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), cs ? '' : 'i');
		} catch (e) {
			bad = 'not a regexp';
		}
		if (re) hits = hue.map((_, id) => re.test(names[id]) || suffix(id) && re.test(names[id] + suffix(id)));
		tally(), draw();
		if (!quiet) save();
	};
	const tally = () => {
		found = [], area = 0, turn = -1;
		for (let i = z, skip = 0; hits && i < end[z]; i++) if (hits[nm[i]]) {
			found.push(i);
			if (i >= skip) area += tot[i], skip = end[i]; // a match inside of a match counts once
		}
	};
	const tell = () => {
		const k = found.length;
		count.textContent = bad || hits && (k ? percent(area, tot[z]) + (z ? ' of view' : '') + dot + (turn < 0 ? '' : number(turn + 1) + ' of ') + number(k) : 'no match');
		put(input, { 'aria-invalid': !!bad }), put(caseB, { 'aria-pressed': cs }), put(rexB, { 'aria-pressed': rx });
		prevB.disabled = nextB.disabled = !k;
	};
	const step = by => {
		const k = found.length;
		if (!hits) search();
		else if (k) select(found[turn = turn < 0 ? by < 0 ? k - 1 : 0 : (turn + by + k) % k]), tell();
	};

	// Drawing.
	const light = hex => [1, 3, 5].reduce((sum, i) => sum + [, .2126, , .7152, , .0722][i] * (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2, 0) >= .18;
	const inkOn = hex => light(hex) ? '#16181d' : '#fff';
	const colorOf = id => id < hue.length ? C.colors[hue[id]][+dark] : dark ? '#33373e' : '#d9dce1';
	const px = v => +v.toFixed(2), y = d => inv ? d * C.fh : H - (d + 1) * C.fh;
	const above = i => i <= z && end[i] >= end[z]; // z and its callers: full width
	const left = i => above(i) ? 0 : (beg[i] - beg[z]) * W / tot[z], span = i => above(i) ? W : tot[i] * W / tot[z];
	const outline = (i, w, r = 0, x = left(i) + r, t = y(dep[i]) + r) => `M${px(x)} ${t}H${px(x + w - 2 * r)}v${C.fh - 1 - 2 * r}H${px(x)}z`;

	const draw = () => {
		const t = theme || stored(), bg = C.bg && light(C.bg), hit = C.search, seen = [], edge = [], paths = new Map(), texts = [];
		dark = !paper && (t ? t === 'dark' : C.bg ? !bg : system.matches);
		svg.classList.toggle('pj-dark', dark);
		svg.style.setProperty('--bg', bg === !dark ? C.bg : '');

		let deepest = dep[z], i, w;
		for (i = z; i >= 0; i = par[i]) seen.push(i);
		for (i = z + 1; i < end[z]; i = w < C.min ? end[i] : i + 1) if ((w = span(i)) >= C.min) {
			const d = dep[i], right = Math.ceil(2 * (left(i) + w));
			if (d > deepest) deepest = d;
			// Of slivers, one for each half pixel is all that can be seen.
			if (w >= .5 || right !== edge[d] || hits && hits[nm[i]]) seen.push(i), edge[d] = right;
		}
		if (!z) base = deepest;
		const grown = (Math.max(base, deepest) + 1) * C.fh - H, tall = pane.clientHeight;
		put(view, { width: W, height: H += grown });
		if (!inv && grown) pane.scrollTop += grown; // growth is in the sky: what was seen stays where it was
		drawn = paper ? [0, H] : [pane.scrollTop - tall / 2, pane.scrollTop + 1.5 * tall];

		lists = [];
		for (i of seen) {
			const id = nm[i], d = dep[i];
			if (y(d) + C.fh < drawn[0] || y(d) > drawn[1]) continue;
			(lists[d] ||= []).push(i), w = span(i);
			const caller = i < z, match = !caller && hits && hits[id], dim = !match && (found.length || only >= 0 && kindOf(id) !== only);
			const fill = match ? hit || (dark ? '#ff5cc8' : '#d6249f') : colorOf(id);
			const opacity = caller || dim ? caller && dim ? .25 : .4 : match || !C.legend ? 1 : 1 - (hash[id] >>> 9 & 3) * .05;
			const r = w < 5 ? 0 : 1.5, key = fill + opacity + r; // a stroke of the same colour rounds the corners
			if (!paths.has(key)) paths.set(key, [{ fill, opacity, stroke: r ? fill : 'none', 'stroke-width': 2 * r }]);
			paths.get(key).push(outline(i, w < 1.5 ? Math.max(w, .5) : w - .7, r));
			const s = w >= 24 && texts.length < 3500 && label(names[id], w - 9);
			if (s) texts.push(g('text', { x: px(left(i) + 4), y: px(y(d) + (C.fh - 1) / 2 + C.fs * .35), fill: caller || dim ? 'var(--mu)' : inkOn(fill) }, s));
		}
		ink.replaceChildren(...[...paths.values()].map(([at, ...d]) => g('path', { ...at, d: d.join('') })), ...texts);
		trail(), tell(), rings(), chips.forEach(f => f());
		if (!alone && !paper) put(hole, { height: innerHeight }), put(svg, { height: page.offsetHeight }); // a page gives no height
	};
	const trail = () => {
		const path = [];
		crumbs.hidden = !z;
		for (let i = z; i >= 0; i = path.length < 60 || !i ? par[i] : 0) {
			const to = i, name = names[nm[i]], all = spellings(name), t = all.at(-2) || name;
			path.unshift(button('b', name, () => zoom(to), t.length > 40 ? t.slice(0, 39) + '\u2026' : t));
		}
		crumbs.replaceChildren(...path);
		crumbs.scrollLeft = 1e6;
	};
	const ring = (e, i, least) => put(e, { d: above(i) || i > z && i < end[z] ? outline(i, Math.max(span(i) - 1, least)) : '' });
	const rings = () => {
		const i = hov >= 0 ? hov : sel >= 0 ? sel : z || -1, id = nm[i], box = h('i');
		ring(hovR, hov, 1), ring(selR, sel, 5);
		if (i < 0) return status.replaceChildren('Click a frame to zoom \u00b7 / search \u00b7 arrows, Enter, Backspace \u00b7 0 reset \u00b7 D dark');
		box.style.background = colorOf(id);
		status.replaceChildren(box, i && C.nametype ? C.nametype + ' ' : '', h('b', {}, names[id]), h('span', {}, ' \u2014 ' + [
			weight(tot[i]) + ' ' + unit,
			percent(tot[i], tot[0]) + ' of total',
			i && percent(tot[i], tot[par[i]]) + ' of caller',
			z && i >= z && percent(tot[i], tot[z]) + ' of view',
			i && 'self ' + weight(self[i]) + ' (' + percent(self[i], tot[0]) + ')',
			C.legend && i && C.kinds[kindOf(id)][0],
		].filter(s => s).join(dot)));
	};

	// Acting.
	const zoom = i => {
		if (i !== z) z = i, hov = sel = -1, tally(), draw(), save(true);
	};
	const select = i => {
		sel = i, hov = -1, rings();
		selR.scrollIntoView({ block: 'nearest' });
	};
	const escape = () => {
		if (q) input.value = q = '', sel = -1, search();
		else if (sel >= 0) sel = -1, rings();
		else if (only >= 0) only = -1, draw();
		else zoom(0);
		pane.focus({ preventScroll: true });
	};
	const move = key => {
		const row = lists[dep[sel]] || [];
		let to = sel < 0 ? z : par[sel], c = sel + 1;
		if (sel < 0);
		else if (/[RL]/.test(key)) to = row[row.indexOf(sel) + (/L/.test(key) ? -1 : 1)];
		else if (/U/.test(key) === inv);
		else if (sel < z) for (to = z; par[to] !== sel;) to = par[to];
		else for (to = -1; c < end[sel]; c = end[c]) if (to < 0 || tot[c] > tot[to]) to = c; // the largest callee
		if (to >= 0) select(to);
	};
	const frameAt = ev => {
		const r = view.getBoundingClientRect(), x = ev.clientX - r.left, row = Math.floor((ev.clientY - r.top) / C.fh);
		const list = lists[inv ? row : H / C.fh - 1 - row] || [];
		let lo = 0, hi = list.length;
		while (lo < hi) { // the first frame that begins behind x
			const mid = lo + hi >> 1;
			if (left(list[mid]) <= x) lo = mid + 1; else hi = mid;
		}
		const i = list[lo - 1] ?? -1;
		return x < left(i) + Math.max(span(i), 1) ? i : -1;
	};
	const home = () => pane.scrollTop = inv ? 0 : H, focus = () => { input.focus(), input.select(); };

	view.onpointermove = ev => {
		const i = ev.pointerType === 'touch' ? hov : frameAt(ev);
		if (i !== hov) hov = i, view.style.cursor = i < 0 ? '' : 'pointer', rings();
	};
	view.onpointerleave = () => { hov = -1, rings(); };
	view.onclick = ev => {
		const i = frameAt(ev);
		if (i >= 0) (ev.pointerType === 'touch' && sel !== i ? select : zoom)(i); // the first tap tells, the second zooms
	};
	pane.onscroll = () => {
		const t = pane.scrollTop;
		if (t < drawn[0] || t + pane.clientHeight > drawn[1]) draw();
	};
	let soon;
	input.oninput = () => {
		q = input.value, sel = -1;
		cancelAnimationFrame(soon), soon = requestAnimationFrame(() => search());
	};
	const keys = { '/': focus, N: () => step(-1), n: () => step(1), 0: () => zoom(0), d: themeB.onclick, i: () => { inv = !inv, draw(), home(), save(); },
		Enter: () => sel >= 0 && zoom(sel), Backspace: () => z && zoom(par[z]) };
	(alone ? document : page).addEventListener('keydown', ev => {
		const k = ev.key, cmd = ev.ctrlKey || ev.metaKey, on = ev.target.localName;
		const act = k === 'F3' || cmd && k === 'f' ? focus : cmd || ev.altKey ? 0 : k === 'Escape' ? escape
			: on === 'input' ? k === 'Enter' && (() => step(ev.shiftKey ? -1 : 1))
			: k === 'Enter' && on === 'button' ? 0 : /^Arrow/.test(k) ? () => move(k) : keys[k];
		if (act) ev.preventDefault(), act();
	});

	// The data was good: take the place of the static picture. Inline, its title would pop up everywhere.
	for (const e of [...svg.children]) if (!/^(desc|style|script)$/.test(e.localName) && !(alone && e.localName === 'title')) e.remove();
	svg.append(hole);
	if (C.legend) {
		const share = C.kinds.map(() => 0);
		for (let i = 1; i < n; i++) share[kindOf(nm[i])] += self[i];
		for (const k of [...share.keys()].sort((a, b) => share[b] - share[a])) if (share[k] >= tot[0] / 1000) {
			const box = h('i'), [name] = C.kinds[k], color = C.colors.find(c => c[2] === k);
			const b = button('k', name + ': dim the rest', () => { only = only === k ? -1 : k, draw(); }, box, name, h('span', {}, percent(share[k], tot[0])));
			chips.push(() => { box.style.background = color[+dark], put(b, { 'aria-pressed': only === k }); });
			legend.append(b);
		}
	}
	const size = (w, h) => {
		for (const a of ['viewBox', 'role']) svg.removeAttribute(a);
		put(svg, { width: C.width || '100%', height: '100%' }), put(hole, { width: w, height: h });
	};
	size('100%', '100%');
	const probe = g('text', {}, String.fromCharCode(...Array(94).fill().map((_, i) => i + 33)));
	ink.append(probe);
	for (let i = 0; i < 94; i++) widths[i + 33] = probe.getSubStringLength(i, 1) || C.cw * C.fs;
	widths[32] = widths[45];
	W = Math.max(pane.clientWidth - 24, 0);
	restore(), home();
	new ResizeObserver(() => {
		const w = pane.clientWidth - 24, first = !W;
		if (!paper && w > 0 && w !== W) W = w, draw(), first && home();
	}).observe(pane);
	system.onchange = draw;
	if (alone) addEventListener('hashchange', restore);
	addEventListener('beforeprint', () => { // on paper: everything, on one page, light
		paper = true, size(page.offsetWidth, 1e6), draw();
		put(svg, { viewBox: `0 0 ${page.offsetWidth} ${page.offsetHeight}` });
	});
	addEventListener('afterprint', () => { paper = false, size('100%', '100%'), draw(); });
})();
