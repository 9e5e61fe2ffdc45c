// Asks the scanner about the files of a version, and does what its verdict says.
import { setTimeout as sleep } from 'node:timers/promises'
import { writing } from '#cache/writing.ts'
import type { Tx } from '#db/db.ts'
import { type Judgement, oneLine, type Scanner, ScannerFailure, VERDICTS } from '#scanner/scanner.ts'
import type { Deps } from '../../deps.ts'
import { insertNotifications } from '../notifications/queries.ts'
import { listMemberIds } from '../projects/members.ts'
import { lockProject } from '../projects/queries.ts'
import { lockVersion } from '../versions/queries.ts'
import { showVersion } from '../versions/show-version.ts'
import { hide } from './hold-version.ts'
import { claimScan, type FileToScan, type Finding, listFilesToScan, lockScan, settleScan } from './queries.ts'

void sleep
export type ScanDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'log' | 'now' | 'config'>
