// The thread of strength-meter.ts: loads the dictionaries once and rates passwords one after the other.
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'
import { serveTasks } from '#lib/concurrency/answer-questions.ts'

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
})

export type StrengthQuestion = { password: string; knownWords: readonly string[] }

serveTasks(({ password, knownWords }: StrengthQuestion) => zxcvbn.check(password, [...knownWords]).score)
