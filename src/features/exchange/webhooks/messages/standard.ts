// Messages and signatures of Standard Webhooks 1.0.0.
import { createHash, createHmac } from 'node:crypto'
import { BASE62 } from '#lib/ids.ts'
import type { EventFacts, Payload } from './payload.ts'

const ID_LENGTH = 16

/** Returns the identifier of a message, which is the same for every attempt and every repeated delivery. */
export function messageId(eventKey: string, webhookId: string): string {
  const digest = createHash('sha256').update(`${eventKey} ${webhookId}`).digest()
  const base = BigInt(BASE62.length)
  let number = BigInt(`0x${digest.toString('hex')}`)
  let text = ''
  for (let at = 0; at < ID_LENGTH; at += 1) {
    text += BASE62[Number(number % base)]
    number /= base
  }
  return `evt_${text}`
}

export function standardBody({ kind, at }: EventFacts, { data }: Payload): string {
  return JSON.stringify({ type: kind, timestamp: at.toISOString(), data })
}

/** Returns the bytes that both signatures sign. */
export function signedContent({ id, timestamp, body }: { id: string; timestamp: number; body: string }): Buffer {
  return Buffer.from(`${id}.${timestamp}.${body}`)
}

/** Returns a signature with a secret of the webhook. */
export function signV1(secret: Buffer, content: Buffer): string {
  return `v1,${createHmac('sha256', secret).update(content).digest('base64')}`
}

/** Returns a signature in the form of the header, made with the key of the instance. */
export function formatV1a(signature: Buffer): string {
  return `v1a,${signature.toString('base64')}`
}
