// The requests of samples.test.ts of all features.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Declared, Sample } from './sample.ts'

type SampleFile = { SAMPLES?: Record<string, Sample>; DECLARED?: Record<string, Declared> }

const ROOT = join(import.meta.dirname, '../../..')
const FILES = globSync('src/features/**/samples.test.ts', { cwd: ROOT })
const loaded = await Promise.all(FILES.map((file): Promise<SampleFile> => import(join(ROOT, file))))

/** Requests by operation. */
export const SAMPLES: Record<string, Sample> = Object.assign({}, ...loaded.map((file) => file.SAMPLES))

/** Fields of writes by operation. */
export const DECLARED: Record<string, Declared> = Object.assign({}, ...loaded.map((file) => file.DECLARED))
