// The application that the tests of all operations share.
import { after, before } from 'node:test'
import type { TestApp } from '#test/support/app/test-app.ts'
import { openForSamples } from './open.ts'

/** Set before the first test. */
export let t: TestApp
let close: () => Promise<void> = async () => {}

async function open(): Promise<void> {
  ;({ t, close } = await openForSamples())
  // Search fails until its index is complete.
  await t.searchable()
}

/** Hooks of test files run at the same time: a hook that needs the application waits for this. */
export const opened = open()
before(() => opened)
after(() => close())
