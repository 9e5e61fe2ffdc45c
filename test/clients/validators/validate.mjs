// Prints the problems that swagger-parser, Redocly and Spectral find in openapi.json, one JSON object per line: the tool,
// whether it is an error, its rule, and the path of the place in the document.
import { spawnSync } from 'node:child_process'
import SwaggerParser from '@apidevtools/swagger-parser'

const FILE = 'openapi.json'
const print = (tool, isError, rule, path, text) => console.log(JSON.stringify({ tool, isError, rule, path, text }))
const run = (name, args) =>
  JSON.parse(spawnSync(`node_modules/.bin/${name}`, args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).stdout)

await SwaggerParser.validate(FILE).catch((error) => print('swagger-parser', true, error.name, [], error.message))

for (const { ruleId, severity, message, location } of run('redocly', ['lint', FILE, '--format', 'json']).problems) {
  const parts = (location[0]?.pointer ?? '#/').slice(2).split('/')
  const path = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  print('redocly', severity === 'error', ruleId, path, message)
}

const spectral = run('spectral', ['lint', FILE, '--ruleset', 'spectral.yaml', '--format', 'json', '--quiet'])
for (const { code, path, severity, message } of spectral) print('spectral', severity === 0, code, path, message)
