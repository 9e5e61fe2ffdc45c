// A small captcha service of the siteverify kind: its script, the frame it opens, and the endpoint that checks answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const SECRET = 'captcha-secret'
const SITE_KEY = 'captcha-site-key'

/** Fills the element as such services do: a hidden field with the answer, a frame, and a request for data. */
const SCRIPT = `const { origin } = new URL(document.currentScript.src)
document.addEventListener('DOMContentLoaded', async () => {
  const box = document.querySelector('.x-captcha')
  const answer = Object.assign(document.createElement('input'), { type: 'hidden', name: 'x-captcha-response' })
  answer.value = (await (await fetch(origin + '/data')).text()) + ' by ' + box.dataset.sitekey
  const frame = Object.assign(document.createElement('iframe'), { title: 'Captcha', width: 304, height: 78 })
  frame.src = origin + '/frame'
  box.append(answer, frame)
})`

export type CaptchaService = {
  origin: string
  /** Environment variables that an operator sets for the service. */
  env: Record<string, string>
  /** The answer of a person who has solved it; it counts any number of times. */
  solved: string
  /** Forms that were sent to be checked. */
  asked: URLSearchParams[]
  close(): void
}

export async function startCaptchaService(): Promise<CaptchaService> {
  const solved = `solved by ${SITE_KEY}`
  const asked: URLSearchParams[] = []
  const server = createServer(async (req, res) => {
    if (req.url === '/api.js') return void res.setHeader('content-type', 'text/javascript').end(SCRIPT)
    if (req.url === '/frame') return void res.setHeader('content-type', 'text/html').end('<!doctype html>Are you real?')
    if (req.url === '/data') {
      const open = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
      return void res.writeHead(200, open).end('solved')
    }
    const form = new URLSearchParams(await text(req))
    asked.push(form)
    res.end(JSON.stringify({ success: form.get('secret') === SECRET && form.get('response') === solved }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    env: {
      CAPTCHA_VERIFY_URL: `${origin}/siteverify`,
      CAPTCHA_SECRET: SECRET,
      CAPTCHA_SITE_KEY: SITE_KEY,
      CAPTCHA_SCRIPT_URL: `${origin}/api.js`,
      CAPTCHA_WIDGET_CLASS: 'x-captcha',
    },
    solved,
    asked,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
