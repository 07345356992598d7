import { readFileSync, writeFileSync } from 'node:fs'
import { withSettings } from './table.js'

/** `npm run docs:settings` writes the settings of `src/config/variables.ts` into OPERATIONS.md. */
const PATH = 'OPERATIONS.md'
writeFileSync(PATH, withSettings(readFileSync(PATH, 'utf8')))
