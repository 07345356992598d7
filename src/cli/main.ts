#!/usr/bin/env node
import { EXIT } from './exit-codes.js'
import { processIo } from './io.js'
import { runProgram } from './program.js'

// Files that a command writes are readable only by its user, unless it sets another mode.
process.umask(0o077)
// A reader that has enough, such as `head`, closes the pipe; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(EXIT.readerGone)
})
// A restore must not end because its progress is no longer read.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await runProgram(processIo(), process.argv.slice(2))
