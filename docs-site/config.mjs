// The configuration of VitePress. scripts/docs.ts copies it next to the pages, with the values of `site.json`.
import { readFileSync } from 'node:fs'

const { title, base, sidebar, outDir } = JSON.parse(readFileSync(new URL('../site.json', import.meta.url), 'utf8'))

/** Returns the anchor of a heading, as code hosts make it. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

export default {
  title,
  base,
  outDir,
  srcDir: 'pages',
  description: 'The documentation of Depot, a content hosting service',
  cleanUrls: false,
  lastUpdated: false,
  // Text in angle brackets and double braces is text.
  markdown: { anchor: { slugify }, toc: { slugify }, headers: { slugify }, attrs: { disable: true } },
  themeConfig: { search: { provider: 'local' }, outline: [2, 3], sidebar },
}
