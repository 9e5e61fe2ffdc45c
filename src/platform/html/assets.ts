// Style, script, fonts and icons, read once. Their names hold a hash of what is in them, so that browsers keep them for
// good and a change is seen at once.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const FOLDER = join(import.meta.dirname, 'assets')
/** Where the assets are, below the path of the public address. */
export const ASSETS_PATH = '/assets'

const STYLES = join(import.meta.dirname, 'style')
/** What the style sheet is made of. Where two rules weigh the same, the later one counts. */
const STYLE_PARTS = [
  'base',
  'layout',
  'controls',
  'facets',
  'results',
  'project',
  'prose',
  'panels',
  'site',
  'plots',
  'forms',
  'media',
]

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** In the order of their making: the style names the fonts. */
const FILES = ['hyperlegible.woff2', 'hyperlegible-mono.woff2', 'icons.svg', 'mark.svg', 'site.js', 'site.css'] as const
export type AssetName = (typeof FILES)[number]

export type Asset = {
  /** The last part of its address, such as `site.3f9a0c1b2d4e.css`. */
  name: string
  type: string
  bytes: Buffer
  /** The bytes in a content coding, made when they are first asked for; undefined for what is compressed already. */
  encode: ((coding: AssetCoding) => Promise<Buffer>) | undefined
}

type AssetCoding = 'br' | 'gzip'

export type Assets = ReadonlyMap<AssetName, Asset>

/** Reads every asset: once when the server starts. */
export function loadAssets(): Assets {
  const assets = new Map<AssetName, Asset>()
  for (const file of FILES) {
    const [stem = '', extension = ''] = file.split('.')
    const bytes = file === 'site.css' ? joinStyles(assets) : readFileSync(join(FOLDER, file))
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
    assets.set(file, {
      name: `${stem}.${hash}.${extension}`,
      type: TYPES[extension as keyof typeof TYPES],
      bytes,
      encode: extension === 'woff2' ? undefined : encoder(bytes),
    })
  }
  return assets
}

/** The style sheet without comments and line breaks, with the hashed names of its fonts, which are beside it. */
function joinStyles(assets: Assets): Buffer {
  const style = STYLE_PARTS.map((part) => readFileSync(join(STYLES, `${part}.css`), 'utf8')).join('')
  const short = style
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
  return Buffer.from(
    short.replace(/url\(([a-z-]+\.woff2)\)/g, (_all, file: string) => {
      const font = assets.get(file as AssetName)
      if (font === undefined) throw new Error(`The style names a font that is not there: ${file}`)
      return `url(${font.name})`
    }),
  )
}

/** Compresses once for each coding, beside the event loop: together it takes some 100 ms, which no start waits for. */
function encoder(bytes: Buffer): (coding: AssetCoding) => Promise<Buffer> {
  const kept = new Map<AssetCoding, Promise<Buffer>>()
  return (coding) => {
    const known = kept.get(coding)
    if (known !== undefined) return known
    const encoded = ENCODERS[coding](bytes)
    kept.set(coding, encoded)
    // The next one who asks tries again.
    encoded.catch(() => kept.delete(coding))
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

/** The path of an asset, for links. `base` is the path of the public address, without a slash at its end. */
export function assetPath(assets: Assets, base: string, file: AssetName): string {
  return `${base}${ASSETS_PATH}/${assets.get(file)?.name}`
}
