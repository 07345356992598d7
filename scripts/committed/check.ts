import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { subjectFault, subjectsSinceRule } from './commit-subjects.js'
import { conflictMarkerLines } from './conflict-markers.js'
import { packagesWithoutIntegrity } from './lock-integrity.js'

/** A step of `npm run check`: faults that a merge or a package manager can commit without anybody typing them. */

const NOT_COMMITTED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git', '.countersign'])

const faults = [...lockFaults(), ...markdownPaths('.').flatMap(markdownFaults), ...subjectFaults()]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

function lockFaults(): readonly string[] {
  return packagesWithoutIntegrity(readFileSync('package-lock.json', 'utf8')).map(
    (path) =>
      `package-lock.json: ${path} has no integrity, so its tarball would be installed unverified. Delete the entry and run \`npm install --package-lock-only\`.`,
  )
}

function subjectFaults(): readonly string[] {
  return subjectsSinceRule().flatMap((subject) => {
    const fault = subjectFault(subject)
    if (fault === null) return []
    return [`The commit "${subject}" has a subject that is ${fault}. Run \`git commit --amend\`.`]
  })
}

function markdownFaults(path: string): readonly string[] {
  return conflictMarkerLines(readFileSync(path, 'utf8')).map(
    (line) => `${path}:${line}: a conflict marker was committed. Keep what both sides meant.`,
  )
}

function markdownPaths(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return NOT_COMMITTED.has(entry.name) ? [] : markdownPaths(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}
