import { readFileSync, writeFileSync } from 'node:fs'
import { withSettings } from './table.js'

/** `node scripts/run.mjs settings/write` writes the settings of `src/config/variables.ts` into OPERATIONS.md. */
const PATH = 'OPERATIONS.md'
writeFileSync(PATH, withSettings(readFileSync(PATH, 'utf8')))
