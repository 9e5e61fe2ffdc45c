// Loads `node:test` without its async hooks. The test runner of Node.js finds the test that runs by hooks on every promise,
// which make a request about a third slower. Here it finds the test by an AsyncLocalStorage.
import { createRequire } from 'node:module'

const hooks = createRequire(import.meta.url)('node:async_hooks')
const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks

const current = new AsyncLocalStorage()
let file = 0
let runner

/** The base class of a test. It registers the test in place of the hook. */
class Test extends AsyncResource {
  constructor(...options) {
    super(...options)
    runner?.init(this.asyncId(), 'Test', 0, this)
  }

  runInAsyncScope(act, thisArg, ...args) {
    return super.runInAsyncScope(() => current.run(this.asyncId(), () => act.apply(thisArg, args)))
  }
}

/** Node.js evaluates a module outside the context of its import, so code that belongs to no test belongs to the file. */
const testId = () => current.getStore() ?? file

Object.assign(hooks, {
  AsyncResource: Test,
  executionAsyncId: testId,
  createHook: (callbacks) => {
    runner = callbacks
    return { enable() {}, disable() {} }
  },
})
const { test } = await import('node:test')
Object.assign(hooks, { AsyncResource, executionAsyncId, createHook })

/** Runs the tests of a file. */
export async function runFile(path, load) {
  await test(path, () => {
    file = testId()
    return load()
  })
  file = 0
}
