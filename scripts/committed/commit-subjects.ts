import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Commit subjects in the form of CONTRIBUTING: `area: verb object` within 72 characters. */

const SUBJECT_CHARS_MAX = 72
/** The rule applies to commits after this one. */
const SINCE = 'e5bb6be1f771'
const FORM = /^[a-z0-9][a-z0-9 ,./-]*: \S/

/** @returns the fault of a subject; null for a good one */
export function subjectFault(subject: string): string | null {
  if (subject.startsWith('Merge ') || subject.startsWith('Revert ')) return null
  if ([...subject].length > SUBJECT_CHARS_MAX) return `longer than ${SUBJECT_CHARS_MAX} characters`
  return FORM.test(subject) ? null : 'not of the form `area: verb object`'
}

/** Returns nothing without a history: in a package, or a shallow clone. */
export function subjectsSinceRule(): readonly string[] {
  if (!existsSync('.git')) return []
  try {
    const range = `${SINCE}..HEAD`
    return execFileSync('git', ['log', '--no-merges', '--format=%s', range], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .split('\n')
      .filter((subject) => subject !== '')
  } catch {
    return []
  }
}
