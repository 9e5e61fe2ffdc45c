// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code
// Expressions that the checker rejects or cannot read, each with the bound that makes it harmless.

/**
 * `form` is checked instead of the expression: the worst expression that the running program creates, or one with the same
 * structure that the checker can read.
 */
export type Exception = {
  readonly file: string
  readonly code: string
  readonly bound: string
  readonly form?: { readonly source: string; readonly flags: string }
}

const OF_RELEASE = 'Reads only files of the release'

export const EXCEPTIONS: readonly Exception[] = [
  {
    file: 'packages/client/src/command/files.ts',
    code: 'new RegExp(`^${text}$`)',
    bound: 'The publisher writes both the pattern and the names of the files',
  },
  {
    file: 'packages/client/src/retry.ts',
    code: "new RegExp(`${path.replace(/\\{\\w+\\}/g, '[^/]+')}$`)",
    bound: 'The paths are those of the API description',
    form: { source: '/v3/version_file/[^/]+/update$', flags: '' },
  },
  {
    file: 'src/features/catalogue/versions/proposals/file-name.ts',
    code: '/\\d{1,9}(?:\\.\\d{1,9}){1,4}(?:-(?:alpha|beta|rc|pre|snapshot)[.\\d]{0,8})?/gi',
    bound: 'Reads at most the NAME_LENGTH_MAX characters of a file name, and each repetition is bounded',
  },
  {
    file: 'src/features/community/attention/requests.ts',
    code: "pattern: `^(${DISMISSIBLE_KINDS.join('|')}):[0-9A-Za-z]{1,11}$`",
    bound: 'The kinds are words without special characters',
    form: { source: '^(scan|breakage):[0-9A-Za-z]{1,11}$', flags: '' },
  },
  {
    file: 'src/lib/schema/schema-errors.ts',
    code: 'new RegExp(text)',
    bound: 'The keys of `patternProperties` are those of the schemas in the API description',
    form: { source: '^.*$', flags: '' },
  },
  {
    file: 'src/platform/config/env-values.ts',
    code: "new RegExp(source, 'i')",
    bound: 'The operator writes the expressions, and they read at most 1,024 bytes of a User-Agent',
  },
  {
    file: 'src/platform/config/settings-file.ts',
    code: '/[ \\t]*(?:(?:export[ \\t]+)?(?<name>[A-Za-z_]\\w*)[ \\t]*=[ \\t]*(?:(?:"[^"]*"|\'[^\']*\'|`[^`]*`)?[ \\t]*(?:#.*)?|[^\\s"\'`#][^\\n#]*(?:(?<=\\s)#.*)?)|#.*)?\\r?(?:\\n|$)/y',
    bound: 'Reads only the settings file of the operator, when a command starts',
  },
  {
    file: 'src/platform/db/migration-files.ts',
    code: '/\\bcreate\\s+(?:unique\\s+)?index\\s[^;]*?\\son\\s+([a-z_]+)/gi',
    bound: OF_RELEASE,
  },
  {
    file: 'src/platform/db/migration-files.ts',
    code: '/\\balter\\s+table\\s+([a-z_]+)[^;]*?\\b(?:set\\s+data\\s+)?type\\b/gi',
    bound: OF_RELEASE,
  },
  {
    file: 'src/platform/db/migration-files.ts',
    code: '/\\balter\\s+table\\s+([a-z_]+)[^;]*?\\bprimary\\s+key\\b/gi',
    bound: OF_RELEASE,
  },
  { file: 'src/web/ui/assets.ts', code: "/^import [^']*'[^']*'$/gm", bound: OF_RELEASE },
  { file: 'src/web/ui/assets.ts', code: '/^ *(\\/\\/.*|\\/\\*\\*[\\s\\S]*?\\*\\/)\\n/gm', bound: OF_RELEASE },
  { file: 'src/web/ui/assets.ts', code: '/\\/\\*[\\s\\S]*?\\*\\//g', bound: OF_RELEASE },
  {
    file: 'src/platform/http/openapi/openapi.ts',
    code: '/"(?:[^"\\\\\\n]|\\\\.)*"|[\\w.+-]+/',
    bound: 'Only a part of another expression',
  },
  {
    file: 'src/platform/http/openapi/openapi.ts',
    code: "new RegExp(`\\\\[\\\\s+(?:(?:${SCALAR}),?\\\\s+)+\\\\]`, 'g')",
    bound: 'Reads only the API description of the release',
  },
  {
    file: 'src/platform/telemetry/log.ts',
    code: '/[^\\s<>"\'(),:;@]{1,64}@[^\\s<>"\'(),:;@]{1,255}/g',
    bound: 'Reads at most 64 characters from each position, and 255 more after an @',
  },
  {
    file: 'src/ports/counters/redis/redis-counters.ts',
    code: "new RegExp(`^${name}:(.*?)\\\\r?$`, 'm')",
    bound: 'The names are words of Redis',
    form: { source: '^redis_version:(.*?)\\r?$', flags: 'm' },
  },
  {
    file: 'src/ports/search-index/fold.ts',
    code: "new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'gu')",
    bound: 'A set of characters',
    form: { source: '[ßæœ]', flags: 'gu' },
  },
  {
    file: 'src/ports/search-index/fold.ts',
    code: "new RegExp(\n  String.raw`[${UNSPACED}]+|[[\\p{L}\\p{N}]--[${UNSPACED}]][[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]*|[\\p{So}\\p{Extended_Pictographic}]`,\n  'gv',\n)",
    bound: 'The checker cannot read differences of sets; the alternatives begin with different characters',
    form: { source: '[ー々]+|[a-z][a-z0-9]*|[☀☁]', flags: 'gu' },
  },
  {
    file: 'src/ports/search-index/opensearch/indices.ts',
    code: "new RegExp(`^${prefix.replaceAll(/[^a-z0-9]/g, '\\\\$&')}-\\\\d{13,}-[0-9a-f]{8}$`)",
    bound: 'The operator chooses the prefix, and its special characters are escaped',
    form: { source: '^depot\\-search-\\d{13,}-[0-9a-f]{8}$', flags: '' },
  },
  {
    file: 'src/web/kit/page-routes.ts',
    code: 'new RegExp(`^${source}$`)',
    bound: 'The paths are those of the pages, and no parameter contains a slash',
    form: { source: '^/[^/]+/[^/]+/version/[^/]+/dependencies/[^/]+\\.json$', flags: '' },
  },
]
