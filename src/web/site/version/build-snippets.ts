// Texts for build tools and packs that name one version of a project. None of them is translated.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { Side } from '#ports/search-index/sides.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { primaryFile } from '../project/offer.ts'
import { copyButton } from './version-parts.ts'

export type SnippetSource = {
  /** URL of the instance. */
  url: string
  name: string
  slug: string
  version: VersionView
  /** Whether several versions have the number, so that only the ID names this version. */
  isNumberShared: boolean
  sides: Record<'client_side' | 'server_side', Side>
}

export type Snippet = { id: string; label: string; text: string }

/** Any name is valid: the Maven repository ignores it. */
const GROUP = 'maven.depot'
/** Loaders whose mods a build tool must remap. */
const REMAPPED = ['fabric', 'quilt', 'legacy-fabric', 'ornithe', 'babric']
/** Folders of a pack by project type, in the order in which a version's types are checked. */
const FOLDERS = [
  ['mod', 'mods'],
  ['resourcepack', 'resourcepacks'],
  ['shader', 'shaderpacks'],
  ['datapack', 'datapacks'],
] as const

/** Returns the texts for a version; none without a file, and only those that its type can use. */
export function buildSnippets(source: SnippetSource): Snippet[] {
  const { version } = source
  const file = primaryFile(version)
  if (file === undefined) return []
  const types = version.project_types
  const folder = FOLDERS.find(([type]) => types.includes(type))?.[1]
  const isLibrary = /\.jar$/i.test(file.filename) && (types.includes('mod') || types.includes('plugin'))
  return [
    ...(isLibrary ? [gradle(source), maven(source)] : []),
    ...(folder === undefined ? [] : [packwiz(source, file), packEntry(source, file, folder)]),
  ]
}

type File = VersionView['files'][number]

/** A number with other characters can have a different meaning in a build file. */
function coordinate({ version, isNumberShared }: SnippetSource): string {
  return isNumberShared || !/^[\w.+-]+$/.test(version.version_number) ? version.id : version.version_number
}

function gradle(source: SnippetSource): Snippet {
  const { url, slug, version } = source
  const call = version.loaders.some((loader) => REMAPPED.includes(loader)) ? 'modImplementation' : 'implementation'
  return {
    id: 'gradle',
    label: 'Gradle',
    text: `repositories {
    exclusiveContent {
        forRepository { maven { url = uri("${url}/maven") } }
        filter { includeGroup("${GROUP}") }
    }
}

dependencies {
    ${call}("${GROUP}:${slug}:${coordinate(source)}")
}`,
  }
}

function maven(source: SnippetSource): Snippet {
  const { url, slug } = source
  return {
    id: 'maven',
    label: 'Maven',
    text: `<repository>
  <id>depot</id>
  <url>${xml(url)}/maven</url>
</repository>

<dependency>
  <groupId>${GROUP}</groupId>
  <artifactId>${xml(slug)}</artifactId>
  <version>${xml(coordinate(source))}</version>
</dependency>`,
  }
}

const xml = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.codePointAt(0)};`)

function packwiz({ name, sides }: SnippetSource, file: File): Snippet {
  const { client_side: client, server_side: server } = sides
  const side = server === 'unsupported' ? 'client' : client === 'unsupported' ? 'server' : 'both'
  return {
    id: 'packwiz',
    label: 'packwiz',
    text: `name = ${toml(name)}
filename = ${toml(file.filename)}
side = "${side}"

[download]
url = ${toml(file.url)}
hash-format = "sha512"
hash = "${file.hashes.sha512}"`,
  }
}

/** Returns a basic string of TOML, whose escapes JSON shares; only DEL needs another one. */
const toml = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f')

function packEntry({ sides }: SnippetSource, file: File, folder: string): Snippet {
  const { client_side: client, server_side: server } = sides
  const entry = {
    path: `${folder}/${file.filename}`,
    hashes: { sha1: file.hashes.sha1, sha512: file.hashes.sha512 },
    ...(client === 'unknown' || server === 'unknown' ? {} : { env: { client, server } }),
    downloads: [file.url],
    fileSize: file.size,
  }
  return { id: 'mrpack', label: '.mrpack', text: JSON.stringify(entry, null, 2) }
}

/** Shows each text behind its name, with a button that copies it. */
export function snippetList(page: PageContext, snippets: readonly Snippet[]): Part {
  if (snippets.length === 0) return null
  const items = snippets.map(
    ({ id, label, text }): Markup =>
      html`<details><summary>${label}</summary>${copyButton(page, { id, what: label })}<pre id="${id}" tabindex="0" aria-label="${label}" role="group" dir="ltr"><code>${text}</code></pre></details>
`,
  )
  return html`<div class="snippets prose">
${items}</div>`
}
