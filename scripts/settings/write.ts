import { readFileSync, writeFileSync } from 'node:fs'
import { withSettings } from './table.js'

/** `npm run docs:settings`: the table of OPERATIONS.md, from `src/config/variables.ts`. */
const PATH = 'OPERATIONS.md'
writeFileSync(PATH, withSettings(readFileSync(PATH, 'utf8')))
