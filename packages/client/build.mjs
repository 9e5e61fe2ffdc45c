// Compiles src/ to dist/ for publication, with the TypeScript of this package.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const ROOT = import.meta.dirname
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '-p', join(ROOT, 'tsconfig.json')], { stdio: 'inherit' })
// The compiler renames imports in scripts, but not in declarations.
for (const file of globSync('dist/**/*.d.ts', { cwd: ROOT })) {
  const path = join(ROOT, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'))
}
copyFileSync(join(ROOT, '../../LICENSE'), join(ROOT, 'dist/LICENSE'))
const command = join(ROOT, 'dist/command/main.js')
if (existsSync(command)) chmodSync(command, 0o755)
