#!/usr/bin/env node
import { processIo } from './io.js'
import { runProgram } from './program.js'

// What a command writes into a home, or next to it, is its user's alone unless it says otherwise.
process.umask(0o077)
process.exitCode = await runProgram(processIo(), process.argv.slice(2))
