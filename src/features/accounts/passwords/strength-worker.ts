// The thread behind strength-meter.ts: loads the dictionaries once and judges one password after the other.
import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
})

parentPort?.on('message', ({ id, password, knownWords }: { id: number; password: string; knownWords: string[] }) => {
  parentPort?.postMessage({ id, score: zxcvbn.check(password, knownWords).score })
})
