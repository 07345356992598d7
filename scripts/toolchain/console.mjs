/**
 * The messages of the set-up. All go to stderr, so that a command's stdout stays its own, and
 * `npm run --silent` prints only failures.
 */
import { fileURLToPath } from 'node:url'

/** The repository's root, without a trailing slash. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '')

const silent = process.env.npm_config_loglevel === 'silent'

/** @param {string} line */
export function announce(line) {
  if (!silent) process.stderr.write(`countersign  ${line}\n`)
}

/** @param {string} message @returns {never} */
export function fail(message) {
  process.stderr.write(`countersign: ${message}\n`)
  process.exit(1)
}
