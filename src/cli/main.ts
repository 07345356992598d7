#!/usr/bin/env node
import { EXIT } from './exit-codes.js'
import { processIo } from './io.js'
import { runProgram } from './program.js'

// What a command writes into a home, or next to it, is its user's alone unless it says otherwise.
process.umask(0o077)
// Whoever read has gone, as `head` does when it has enough: nobody listens, and nothing is wrong.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(EXIT.readerGone)
})
// Progress that nobody reads ends no restore midway.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await runProgram(processIo(), process.argv.slice(2))
