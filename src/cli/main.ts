#!/usr/bin/env node
import { processIo } from './io.js'
import { runProgram } from './program.js'

process.exitCode = await runProgram(processIo(), process.argv.slice(2))
