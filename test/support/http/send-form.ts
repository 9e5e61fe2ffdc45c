// Sends a page's form with files, as a browser without scripts does.
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import { BYPASS_KEY, type TestApp } from '../app/test-app.ts'
import type { FormFile } from './forms.ts'
import type { Visitor } from './visitor.ts'

export async function sendForm(
  t: TestApp,
  { cookies }: Visitor,
  url: string,
  { _csrf = '', ...fields }: Record<string, string | readonly string[]>,
  files: readonly FormFile[] = [],
): Promise<InjectResponse> {
  const body = new FormData()
  body.append('_csrf', String(_csrf))
  for (const { filename = 'lantern.jar', bytes } of files)
    body.append('files', new Blob([Uint8Array.from(bytes)]), filename)
  // A browser sends an empty part for a field without a file.
  if (files.length === 0) body.append('files', new Blob([]), '')
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one)
  const sent = new Response(body)
  return t.inject({
    method: 'POST',
    url,
    payload: Buffer.from(await sent.arrayBuffer()),
    headers: {
      accept: 'text/html',
      'user-agent': 'Mozilla/5.0 Firefox/140.0',
      'x-ratelimit-key': BYPASS_KEY,
      'content-type': sent.headers.get('content-type') ?? '',
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
  })
}
