/** Checks the bounds of what a phone loads before the console shows anything, and for its pages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CONSOLE_ASSETS, CONSOLE_DIR } from './bundle-console.mjs'
import { fail, ROOT } from './console.mjs'

/** Before the first page shows anything; about a second on a slow phone connection. */
const FIRST_BYTES_MAX = 60 * 1024
/** The sum of all pages that are loaded on a visit, so that none grows unnoticed. */
const LAZY_BYTES_MAX = 60 * 1024

const folder = join(ROOT, 'dist', CONSOLE_DIR)
const { script, preload, lazy } = JSON.parse(readFileSync(join(folder, CONSOLE_ASSETS), 'utf8'))
const first = gzippedBytes([script, ...preload])
const later = gzippedBytes(lazy)
const words = `the console's script has ${inKb(first)} kB gzipped, of ${inKb(FIRST_BYTES_MAX)}, and its pages ${inKb(later)} kB, of ${inKb(LAZY_BYTES_MAX)}`
if (first === 0 || first > FIRST_BYTES_MAX || later > LAZY_BYTES_MAX) fail(words)
console.log(words)

/** @param {readonly string[]} names */
function gzippedBytes(names) {
  return names
    .map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length)
    .reduce((sum, length) => sum + length, 0)
}

/** @param {number} bytes */
function inKb(bytes) {
  return (bytes / 1024).toFixed(1)
}
