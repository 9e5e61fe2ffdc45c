// The style sheet, script, fonts and icons, read once.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { staticPath } from '#lib/static-files.ts'
import { GAME_IMAGES, gameImageBytes, isGameImage } from '#taxonomy/game-images.ts'
import { classOfHue, HUES } from './hues.ts'

const FOLDER = join(import.meta.dirname, 'assets')
const STYLES = join(import.meta.dirname, 'style')
/**
 * Parts of each style sheet. Of two rules with the same specificity, the later one applies. The pages for publishers,
 * moderators and operators load both sheets.
 */
const STYLE_PARTS = {
  'site.css': [
    'base',
    'layout',
    'controls',
    'facets',
    'results',
    'project',
    'prose',
    'panels',
    'site',
    'versions',
    'plots',
    'forms',
    'media',
  ],
  'video.css': ['video'],
  'gallery.css': ['gallery'],
  'codes.css': ['codes'],
  'work.css': ['work/frame', 'work/tables', 'work/inputs', 'work/review', 'work/figures'],
} as const
/** Parts of each script, by folder. The first part is shared; each other part, of one file or several, has its own scope. */
const SCRIPT_PARTS = {
  'site.js': ['site/base', 'site/live', 'site/sheet', 'site/suggest', 'site/controls', 'site/files'],
  'work.js': [
    'work/base',
    'work/forms',
    'work/fields',
    'work/lists',
    'work/keys',
    'work/claim',
    'site/files',
    ['work/send', 'work/rows', 'work/upload'],
  ],
  'pack.js': ['pack/pack'],
  'account.js': ['account/account'],
  'editor.js': ['editor/editor', 'editor/chosen'],
  'gallery.js': ['gallery/gallery'],
} as const
type StyleSheet = keyof typeof STYLE_PARTS
const isStyleSheet = (file: string): file is StyleSheet => Object.hasOwn(STYLE_PARTS, file)
const isScript = (file: string): file is keyof typeof SCRIPT_PARTS => Object.hasOwn(SCRIPT_PARTS, file)

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Build order: fonts first, because the style sheet contains their hashed names. */
const FILES = [
  'hyperlegible.woff2',
  'hyperlegible-mono.woff2',
  'icons.svg',
  'work-icons.svg',
  'mark.svg',
  ...GAME_IMAGES,
  'site.js',
  'site.css',
  'video.css',
  'work.css',
  'work.js',
  'pack.js',
  'account.js',
  'editor.js',
  'gallery.css',
  'codes.css',
  'gallery.js',
] as const
export type AssetName = (typeof FILES)[number]

export type Asset = {
  /** Path below the path of the public URL, such as `/assets/site.3f9a0c1b2d4e.css`. */
  path: string
  type: string
  bytes: Buffer
  /** Compresses the asset when a client first requests it; undefined if its format is already compressed. */
  encode: ((coding: AssetCoding) => Promise<Buffer>) | undefined
}

type AssetCoding = 'br' | 'gzip'

export type Assets = ReadonlyMap<AssetName, Asset>

let loaded: Assets | undefined

/** Returns every asset. Reads the files only once. */
export function loadAssets(): Assets {
  loaded ??= readAssets()
  return loaded
}

function readAssets(): Assets {
  const assets = new Map<AssetName, Asset>()
  for (const file of FILES) {
    const extension = file.split('.').at(-1)
    const bytes = bytesOf(file, assets)
    assets.set(file, {
      path: staticPath(file, bytes),
      type: TYPES[extension as keyof typeof TYPES],
      bytes,
      encode: extension === 'woff2' ? undefined : encoder(bytes),
    })
  }
  return assets
}

function bytesOf(file: AssetName, assets: Assets): Buffer {
  if (isScript(file)) return joinScripts(SCRIPT_PARTS[file])
  if (isGameImage(file)) return gameImageBytes(file)
  return isStyleSheet(file) ? joinStyles(assets, file) : readFileSync(join(FOLDER, file))
}

/** Returns one module without comments: one request instead of one per file. */
function joinScripts(parts: readonly (string | readonly string[])[]): Buffer {
  const textOf = (part: string) =>
    readFileSync(join(FOLDER, `${part}.js`), 'utf8')
      .replace(/^import [^']*'[^']*'$/gm, '')
      .replace(/^export /gm, '')
      .replace(/^ *(\/\/.*|\/\*\*[\s\S]*?\*\/)\n/gm, '')
  const [base = '', ...others] = parts.map((part) => [part].flat().map(textOf).join(''))
  return Buffer.from([base, ...others.map((part) => `{\n${part}}\n`)].join(''))
}

const HUE_SELECTOR = HUES.map((hue) => `.${classOfHue(hue)}`).join(',')
const HUE_RULES = HUES.map((hue) => `.${classOfHue(hue)}{--hue:${hue}}`).join('')

/** Returns a style sheet without comments and line breaks, with the hashed names of its fonts and a rule for each hue. */
function joinStyles(assets: Assets, sheet: StyleSheet): Buffer {
  const style = STYLE_PARTS[sheet].map((part) => readFileSync(join(STYLES, `${part}.css`), 'utf8')).join('')
  const short = style
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(':root,.hue{', `${HUE_RULES}:root,${HUE_SELECTOR}{`)
  return Buffer.from(
    short.replace(/url\(([a-z-]+\.woff2)\)/g, (_all, file: string) => {
      const font = assets.get(file as AssetName)
      if (font === undefined) throw new Error(`The style sheet refers to a missing font: ${file}`)
      return `url(${basename(font.path)})`
    }),
  )
}

/** Returns a function that compresses the content once per coding, outside the event loop (about 100 ms for all assets). */
function encoder(bytes: Buffer): (coding: AssetCoding) => Promise<Buffer> {
  const cache = new Map<AssetCoding, Promise<Buffer>>()
  return (coding) => {
    const cached = cache.get(coding)
    if (cached !== undefined) return cached
    const encoded = ENCODERS[coding](bytes)
    cache.set(coding, encoded)
    // After a failure, the next request tries again.
    encoded.catch(() => cache.delete(coding))
    return encoded
  }
}

const brotli = promisify(brotliCompress)
const ENCODERS: Readonly<Record<AssetCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    brotli(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

/** Returns the path of an asset. `base` is the path of the public URL without a trailing slash. */
export function assetPath(assets: Assets, base: string, file: AssetName): string {
  return `${base}${assets.get(file)?.path}`
}
