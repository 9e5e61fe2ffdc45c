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

/** Score of zxcvbn, 0 (weakest) to 4, and the name of its warning; null without a warning. */
export type StrengthAnswer = { score: number; warning: string | null }

serveTasks(({ password, knownWords }: StrengthQuestion): StrengthAnswer => {
  const { score, feedback } = zxcvbn.check(password, [...knownWords])
  return { score, warning: feedback.warning }
})
