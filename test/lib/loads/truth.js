// truth.js - a program whose stacks are known: node truth.js MODE SECONDS
// Leaves burn 50, 30 and 20 % of the time. Their callers alternate: ping calls pong's leaves never, and so on.
'use strict';

const mode = process.argv[2] || 'flat';
const until = Date.now() + 1000 * Number(process.argv[3] || 60);

function fifty() { let s = 0; for (let i = 0; i < 5000; i++) s = (s * 31 + i) % 1000003; return s; }
function thirty() { let s = 0; for (let i = 0; i < 3000; i++) s = (s * 31 + i) % 1000003; return s; }
function twenty() { let s = 0; for (let i = 0; i < 2000; i++) s = (s * 31 + i) % 1000003; return s; }

// Two callers of one leaf, by turns: a caller that is read late is the other one.
function shared(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function ping() { return shared(4000) + 1; }
function pong() { return shared(4000) + 2; }

class Server {
	serve() { return fifty() + thirty() + twenty(); }
	alternate() { return ping() + pong(); }
}

function deep(n) { return n ? deep(n - 1) + 1 : fifty() + thirty() + twenty(); }

// Closures that are made and dropped all the time.
function renewed()
{
	const inner = (k => function leaf_of_closure() { return shared(300 + k); })(Math.random() * 3 | 0);
	return inner() + new Array(50).fill(0).map((x, i) => i + x).length;
}

function callbacks()
{
	const list = [];
	for (let i = 0; i < 60; i++)
		list.push((i * 7919) % 61);
	return list.sort(function compare(a, b) { return shared(60) * 0 + a - b; })[0];
}

// A loop with work of its own around a function that is inlined: compilers make two copies of it, each with that function.
function element(list, i) { return list[i & 7]; }
function peeled()
{
	let s = 1.25;
	for (let i = 0; i < 1000; i++) {
		let t = i * 0.5;
		t = t / (s + 1.1); t = t / (s + 2.1); t = t / (s + 3.1); t = t / (s + 4.1); t = t / (s + 5.1);
		t = t / (s + 1.2); t = t / (s + 2.2); t = t / (s + 3.2); t = t / (s + 4.2); t = t / (s + 5.2);
		t = t / (s + 1.3); t = t / (s + 2.3); t = t / (s + 3.3); t = t / (s + 4.3); t = t / (s + 5.3);
		s = t + element(fractions, i);
	}
	return s;
}
const fractions = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5];

async function later() { await null; return fifty() + thirty() + twenty(); }

const server = new Server();

function über() { return server.serve(); }

const modes = {
	flat: () => server.serve(),
	parents: () => server.alternate(),
	deep: () => deep(120),
	renewed: renewed,
	peeled: peeled,
	callbacks: callbacks,
	names: über,
	workers: () => server.serve(),
};

// Threads of their own, with other functions.
function workers()
{
	const { Worker } = require('worker_threads');
	for (const other of ['parents', 'deep'])
		new Worker(__filename, { argv: [other, process.argv[3]] });
}

async function main()
{
	if (mode === 'workers')
		workers();
	while (Date.now() < until) {
		for (let i = 0; i < 50; i++) {
			if (mode === 'async')
				await later();
			else
				modes[mode]();
		}
		await new Promise(resolve => setImmediate(resolve));
	}
}

main();
