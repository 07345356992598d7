#!/usr/bin/env node
/** The `countersign` command: runs the compiled program, or builds it first. */
import { existsSync } from 'node:fs'

const program = new URL('../dist/src/cli/main.js', import.meta.url)
if (existsSync(program)) {
  process.setSourceMapsEnabled(true)
  await import(program.href)
} else {
  process.argv.splice(2, 0, 'src/cli/main')
  await import('./run.mjs')
}
