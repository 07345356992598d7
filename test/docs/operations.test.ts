import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VARIABLES } from '../../src/config/variables.js'
import { DOCUMENTS, PATHS } from './documents.js'

/** The operators' pages name only things that exist; `test/cli` runs the commands that they name. */

const PAGES = ['INSTALL.md', 'OPERATIONS.md', 'CLUSTER.md', 'RUNBOOKS.md']
const guide = PAGES.map((page) => readFileSync(page, 'utf8')).join('\n')
const matches = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, name = '']) => name)),
]

test("the operators' pages name units that are written", () => {
  const units = matches(guide, /\b(?:systemctl [a-z-]+|journalctl -u) (countersign[\w.-]*)/g)
  expect(units.length).toBeGreaterThan(0)
  for (const unit of units) {
    const file = unit.includes('.') ? unit : `${unit}.service`
    expect(existsSync(`scripts/systemd/${file}`), unit).toBe(true)
  }
})

test("the operators' pages name users that are made", () => {
  const made = readFileSync('scripts/systemd/countersign.sysusers.conf', 'utf8')
  const users = matches(guide, /\bas (countersign-[a-z]+)/g)
  expect(users.length).toBeGreaterThan(0)
  for (const user of users) expect(made).toContain(`\nu ${user} `)
})

test("the operators' pages name variables that are read", () => {
  const names = new Set(VARIABLES.map(({ name }) => name))
  const named = matches(guide, /`((?:COUNTERSIGN|IDENTITY|CONSOLE|METRICS)_[A-Z_]+)`/g)
  expect(named.filter((name) => name !== 'COUNTERSIGN_' && !names.has(name))).toEqual([])
})

test("the operators' pages name metrics that are served", () => {
  const sources = PATHS.filter((path) => /^(src|actors)\/.*\.ts$/.test(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const metrics = matches(guide, /`(countersign_[a-z_]+)[`{]/g)
  expect(metrics.length).toBeGreaterThan(0)
  // A histogram is named with what Prometheus adds to it.
  const named = (metric: string) => metric.replace(/_(bucket|sum|count)$/, '')
  expect(metrics.filter((metric) => !sources.includes(named(metric)))).toEqual([])
})

test.each(DOCUMENTS)('%s names npm scripts that are there', (document) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const named = matches(readFileSync(document, 'utf8'), /npm run (?:--silent |-s )?([a-z][\w:-]*)/g)
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})
