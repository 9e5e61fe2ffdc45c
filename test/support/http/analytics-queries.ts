// Asking `POST /v3/analytics` in tests.

import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import type { Person } from '../factories/factories.ts'

export type Points = Record<string, string | number | boolean>[]

export type Question = {
  start?: string
  end?: string
  resolution?: object
  /** Metric → its bucket fields, or the whole object. */
  metrics: Record<string, string[] | object>
  project_ids?: string[]
}

/** Returns the body of an analytics query. Default: about two days around the application's clock. */
export function questionBody(t: TestApp, question: Question): object {
  const { metrics, resolution = { slices: 1 }, project_ids } = question
  const start = question.start ?? new Date(t.deps.now() - DAY_MS).toISOString()
  const end = question.end ?? new Date(t.deps.now() + DAY_MS).toISOString()
  return {
    time_range: { start, end, resolution },
    return_metrics: Object.fromEntries(
      Object.entries(metrics).map(([key, asked]) => [key, Array.isArray(asked) ? { bucket_by: asked } : asked]),
    ),
    ...(project_ids === undefined ? {} : { project_ids }),
  }
}

/** Stores what is accepted and asks. */
export async function ask(
  t: TestApp,
  person: Person | { token: string },
  question: Question,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  await t.deps.events.flush()
  return t.as(person).post('/v3/analytics', questionBody(t, question), { headers })
}

/** The slices of an answer that must succeed. */
export async function slicesOf(t: TestApp, person: Person | { token: string }, question: Question): Promise<Points[]> {
  const answer = await ask(t, person, question)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
