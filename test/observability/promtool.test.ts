import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** What Prometheus itself says of the rules. */
const DIRECTORY = 'scripts/observability'

test.each([
  ['are rules that Prometheus takes', ['check', 'rules', 'alerts.yml']],
  ['fire when money stops, and not before', ['test', 'rules', 'alerts.test.yml']],
])('the alerts %s', (_title, words) => {
  const { status, stdout, stderr, error } = spawnSync('promtool', words, {
    cwd: DIRECTORY,
    encoding: 'utf8',
  })
  expect(error).toBeUndefined()
  expect(status, `${stdout}${stderr}`).toBe(0)
  expect(stdout).toContain('SUCCESS')
})
