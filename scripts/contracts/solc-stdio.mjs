#!/usr/bin/env node
/**
 * solc-js with the two calls that forge makes of a native compiler, so that forge downloads
 * nothing: `--version`, and standard JSON from stdin to stdout with every source inlined.
 */
import { readFileSync } from 'node:fs'
import solc from 'solc'

if (process.argv.includes('--version')) {
  console.log('solc, the solidity compiler commandline interface')
  // forge takes the version number from this line and does not know the Emscripten build's name.
  console.log(`Version: ${solc.version().replace('.Emscripten.clang', '.Linux.g++')}`)
} else {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
}
