// An independent client of tus uploads through a line that is cut at random places.
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { checkTusUploads } from '#test/support/http/tus-steps.ts'

const t = await testApp()
after(() => t.close())

for (const deferred of [false, true]) {
  test(`a cut upload${deferred ? ' of deferred length' : ''} arrives, and its version has the same bytes`, () =>
    checkTusUploads(t, { deferred }))
}
