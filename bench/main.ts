// `npm run bench [-- NAME...]`: measures, prints a table for each part. Ratios are taken within one run, because
// machines differ and drift; run it on a quiet one.
import { cpus, totalmem } from 'node:os'
import { benchCatalogue } from './catalogue.ts'
import { benchHttp } from './http.ts'
import { benchIngest } from './ingest.ts'
import { benchPeople } from './people.ts'
import { printTable, type Row } from './table.ts'

const PARTS: Record<string, { title: string; run: () => Promise<Row[]> }> = {
  http: { title: 'HTTP, uploads, starts', run: benchHttp },
  catalogue: { title: 'The catalogue at size', run: benchCatalogue },
  ingest: { title: 'Taking in events beside reads', run: benchIngest },
  people: { title: 'Organizations, collections, notifications', run: benchPeople },
}

const asked = process.argv.slice(2)
console.log(
  `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB`,
)
for (const [name, { title, run }] of Object.entries(PARTS)) {
  if (asked.length === 0 || asked.includes(name)) printTable(title, await run())
}
