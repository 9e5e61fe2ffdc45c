// The thread behind strength-meter.ts: loads the dictionaries once, says so, and judges one password after the other.
import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
})

parentPort?.on('message', ({ password, knownWords }: { password: string; knownWords: string[] }) => {
  parentPort?.postMessage(zxcvbn.check(password, knownWords).score)
})
parentPort?.postMessage(0)
