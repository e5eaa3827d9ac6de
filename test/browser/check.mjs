// Looks at the pages of `kubectl ds … -o html` in a real browser, and at the comments of
// `-o markdown` as CommonMark with GitHub's extensions reads them. Run it by `make browser`.
//
//     [ONLY=stuck,big] node check.mjs BINARY CHROMIUM MODULES PICTURES
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bigCluster, hostile } from './dumps.mjs';

const [binary, executablePath, modules, pictures] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const load = (name) => import(pathToFileURL(path.join(modules, 'node_modules', name, 'index.js')));
const { micromark } = await load('micromark');
const { gfm, gfmHtml } = await load('micromark-extension-gfm');

mkdirSync(pictures, { recursive: true });
const examples = path.resolve(import.meta.dirname, '../../examples');
const big = path.join(pictures, 'big.json'), hostileDump = path.join(pictures, 'hostile.json');
writeFileSync(big, JSON.stringify(bigCluster(5000)));
writeFileSync(hostileDump, JSON.stringify(hostile()));

const questions = {
  'stuck': ['explain', '--from', path.join(examples, 'stuck-rollout.json'), '-n', 'kube-system', 'node-agent'],
  'crash': ['explain', '--from', path.join(examples, 'crash-loop.json'), '-A'],
  'several': ['explain', ...['crash-loop', 'surge', 'pending', 'on-delete'].flatMap((f) => ['--from', path.join(examples, f + '.json')]), '-A', '--all'],
  'surge': ['plan-rollout', '--from', path.join(examples, 'surge.json'), '-A'],
  'big': ['plan-rollout', '--from', big, '-n', 'kube-system', 'node-agent', '--image', 'agent=example/agent:3'],
  'big-now': ['explain', '--from', big, '-n', 'kube-system', 'node-agent'],
  'history': ['history', '--from', path.join(examples, 'history.json'), '-n', 'storage', 'csi-node'],
  'diff': ['history', '--from', path.join(examples, 'history.json'), '-n', 'storage', 'csi-node', '--diff', '-1,live', '--unified'],
  'hostile': ['explain', '--from', hostileDump, '-n', 'kube-system', 'agent', '--all'],
};

if (process.env.ONLY) Object.keys(questions).forEach((name) => { if (!process.env.ONLY.split(',').includes(name)) delete questions[name]; });
const failures = [];
const fail = (where, what) => { failures.push(`${where}: ${what}`); console.log(`  FAILED ${where}: ${what}`); };
const ask = (args, form) => execFileSync(binary, [...args, '-o', form], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });

const server = createServer((request, response) => {
  const file = path.join(pictures, path.basename(request.url));
  try {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(readFileSync(file));
  } catch {
    response.writeHead(404).end();
  }
}).listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));
const base = `http://127.0.0.1:${server.address().port}/`;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };

for (const [name, args] of Object.entries(questions)) {
  const file = path.join(pictures, name + '.html');
  writeFileSync(file, ask(args, 'html'));
  const bytes = statSync(file).size;
  let rules = 0, seen = '';
  if (bytes > 2_000_000) fail(name, `${bytes} bytes`);
  for (const colorScheme of ['light', 'dark']) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const where = `${name}, ${colorScheme}, ${size}`;
      const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: size === 'phone' ? 2 : 1 });
      const page = await context.newPage();
      const asked = [];
      page.on('console', (m) => fail(where, `console: ${m.text()}`));
      page.on('pageerror', (e) => fail(where, `error: ${e}`));
      page.on('request', (r) => { if (!r.url().startsWith('data:')) asked.push(r.url()); });
      // Once as a file, and once from a server, of which a browser asks more.
      const url = size === 'phone' ? base + name + '.html' : pathToFileURL(file).href;
      await page.goto(url);
      await page.screenshot({ path: path.join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: name !== 'several' });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) fail(where, `the page scrolls sideways by ${wide} px`);
      const beyond = await page.evaluate(() => [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, .hide, svg, .cells, .skip')
        && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).slice(0, 3).map((e) => e.outerHTML.slice(0, 80)));
      if (beyond.length) fail(where, `beyond the page: ${beyond}`);
      await page.evaluate(axe);
      for (const open of [false, true]) {
        if (open && bytes > 1_000_000) break; // all of 5,000 rows takes minutes
        await page.evaluate((open) => document.querySelectorAll('details').forEach((d) => { d.open = open; }), open);
        const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations', 'incomplete'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
          .then((r) => ({ passes: r.passes.length, violations: r.violations.map((v) => `${v.id}: ${v.nodes.length} times, ${v.nodes[0].html.slice(0, 120)} ${v.nodes[0].failureSummary}`),
            incomplete: r.incomplete.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 120)}`) })));
        rules = found.passes;
        found.violations.forEach((v) => fail(where, v));
        seen = found.incomplete.join('\n    ');
      }
      // axe does not look at the text of pictures.
      const faint = await page.evaluate(() => {
        const light = (c) => { const [r, g, b] = c.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ground = light(getComputedStyle(document.body).backgroundColor);
        return [...document.querySelectorAll('svg text')].filter((t) => { const ink = light(getComputedStyle(t).fill); return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) < 4.5; }).map((t) => t.textContent);
      });
      if (faint.length) fail(where, `faint: ${faint}`);
      const sorted = await page.evaluate(() => [...document.querySelectorAll('table.sorts')].slice(0, 8).map((t) => {
        const b = t.tHead.querySelector('button');
        const column = b.parentElement.cellIndex;
        const of = () => [...t.tBodies].map((x) => x.rows[0].cells[column]?.textContent);
        const was = of();
        b.click();
        const up = [b.parentElement.getAttribute('aria-sort'), of()];
        b.click();
        const down = [b.parentElement.getAttribute('aria-sort'), of()];
        b.click();
        return up[0] === 'ascending' && down[0] === 'descending' && !b.parentElement.hasAttribute('aria-sort') && String(of()) === String(was)
          && (new Set(was).size === 1 || String(up[1]) !== String(down[1]));
      }));
      if (sorted.includes(false)) fail(where, 'a table does not sort');
      if (asked.length !== 1) fail(where, `requests: ${asked}`);
      if (size === 'desktop' && colorScheme === 'light') await page.pdf({ path: path.join(pictures, name + '.pdf'), format: 'A4', printBackground: true });
      await context.close();
    }
  }
  console.log(`${name}: ${bytes} bytes; axe: ${rules} rules pass${seen ? '; not decided:\n    ' + seen : ''}`);
}

// A page does without its script, but for sorting.
if (questions.stuck) {
  const context = await browser.newContext({ viewport: sizes.desktop, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(base + 'stuck.html');
  if (!(await page.locator('h1').textContent()).includes('STUCK')) fail('without a script', 'no verdict');
  if (await page.locator('thead button').count()) fail('without a script', 'there is a button');
  await context.close();
}

// A comment: what is folded is, and nothing of the cluster is a link, a picture or a tag.
for (const [name, args] of Object.entries(questions)) {
  const text = ask(args, 'markdown');
  const html = micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true });
  const page = await browser.newPage();
  await page.setContent(html);
  const found = await page.evaluate(() => ({
    wrong: [...document.body.querySelectorAll(':not(h3, h4, p, strong, em, code, pre, table, thead, tbody, tr, th, td, br, details, summary, ul, li)')].map((e) => e.outerHTML.slice(0, 100)),
    heads: document.querySelectorAll('h3').length,
    unfolded: [...document.querySelectorAll('details')].filter((d) => !d.querySelector(':scope > summary') || d.children.length < 2).length,
    raw: document.body.innerText.match(/\*\*[A-Z]|^\| ---|<\/?(details|summary|br)/m)?.[0] ?? '',
    uneven: [...document.querySelectorAll('table')].filter((t) => [...t.rows].some((r) => r.cells.length !== t.rows[0].cells.length)).length,
  }));
  if (found.wrong.length || !found.heads || found.unfolded || found.raw || found.uneven) fail(`${name} as Markdown`, JSON.stringify(found));
  console.log(`${name} as Markdown: ${text.length} characters, ${found.heads} headings`);
  writeFileSync(path.join(pictures, name + '.md'), text);
  await page.close();
}

await browser.close();
server.close();
console.log(failures.length ? `${failures.length} failures` : `no failure; the pictures are in ${pictures}`);
process.exit(failures.length ? 1 : 0);
