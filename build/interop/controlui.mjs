// OpenClaw's own web page, served from its folder, in Chromium.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { onPage } from './cron.mjs';
import { judged } from './tui.mjs';
import { until } from './rig.mjs';

const { chromium } = createRequire(join(process.cwd(), 'frontend', 'package.json'))('playwright-core');
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json', '.webmanifest': 'application/manifest+json', '.png': 'image/png', '.ico': 'image/x-icon', '.woff2': 'font/woff2' };

/** serve answers with the files of a folder, and with index.html for places inside the page. */
export async function serve(folder, port) {
  const s = createServer((req, res) => {
    const path = normalize(decodeURIComponent(new URL(req.url, 'http://x').pathname));
    let file = join(folder, path);
    if (!existsSync(file) || statSync(file).isDirectory()) file = join(folder, 'index.html');
    res.setHeader('Content-Type', kinds[extname(file)] ?? 'application/octet-stream');
    createReadStream(file).pipe(res);
  });
  await new Promise((resolve) => s.listen(port, '127.0.0.1', resolve));
  return s;
}

// Its components keep their text in shadow roots.
const text = (page) => page.evaluate(() => {
  const seen = [];
  const walk = (n) => {
    if (n.nodeType === 3 && n.textContent.trim() && !['SCRIPT', 'STYLE'].includes(n.parentElement?.tagName)) seen.push(n.textContent.trim());
    if (n.shadowRoot) n.shadowRoot.childNodes.forEach(walk);
    n.childNodes.forEach(walk);
  };
  walk(document.body);
  return seen.join(' | ');
});

/** controlUI uses the page as a person does and returns the rows of the table. */
export async function controlUI(folder, port, gateway, shots) {
  const server = await serve(folder, port);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const shows = (re, ms = 30000) => until(`${re} on the page`, async () => re.test(await text(page)), ms).catch(async (e) => {
    throw new Error(`${e.message}, which shows: ${(await text(page)).slice(0, 600)}`);
  });
  const box = page.locator('textarea:visible, [contenteditable=true]:visible').first();
  const say = async (words) => {
    await box.fill(words);
    await box.press('Enter');
  };
  const visit = async (place, re) => {
    await page.goto(`http://127.0.0.1:${port}/${place}`, { waitUntil: 'domcontentloaded' });
    await shows(re);
  };
  try {
    return await judged([
      ['page connects', async () => {
        await page.goto(`http://127.0.0.1:${port}/?gatewayUrl=${encodeURIComponent(gateway.url)}#token=${encodeURIComponent(gateway.token)}`, { waitUntil: 'domcontentloaded' });
        const confirm = page.getByRole('button', { name: /^(Switch to|Confirm)/ }).first();
        await until('the composer', async () => {
          if (await confirm.isVisible().catch(() => false)) await confirm.click().catch(() => {});
          return box.isVisible().catch(() => false);
        });
      }],
      ['page chat, streamed', async () => {
        await say('hello from the page');
        await shows(/echo: hello from the page/);
      }],
      ['page second message', async () => {
        await say('and once more');
        await shows(/echo: and once more/);
      }],
      ['page stop', async () => {
        await say('/model scripted/stream-400-25');
        await shows(/stream-400-25/);
        // 2026.5.22 hides its stop button as long as it says that the last answer is done.
        await until('the last answer to be over', async () => !/\| Done \|/.test(await text(page)), 15000);
        await say('talk for long');
        const stop = page.getByRole('button', { name: /stop|abort/i }).first();
        await stop.waitFor({ timeout: 15000 });
        await stop.click();
        await until('the stop button to go', async () => !(await stop.isVisible()));
      }],
      ['page sessions', () => visit('sessions', /main/i)],
      ...onPage(page, visit, gateway, 'weekday mail'),
      ['page devices', () => visit('nodes', /device|node|paired/i)],
    ]);
  } finally {
    if (shots) await page.screenshot({ path: shots }).catch(() => {});
    await browser.close();
    server.close();
  }
}
