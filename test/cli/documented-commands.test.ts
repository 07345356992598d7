import { describe, expect, test } from 'vitest'
import { documents, help, page, pathOf, steps } from './documented.js'

/** Every command that a document or `live init` names exists, with the options it is named with. */

const GLOBAL_OPTIONS = ['--json', '--url', '--home', '--help']

describe('what documents name', () => {
  test('is enough to mean something', () => {
    expect(documents.length).toBeGreaterThan(15)
    expect(steps.length).toBeGreaterThan(12)
  })

  test.each([...documents, ...page, ...steps])(
    '$where: countersign $words',
    async ({ words, options }) => {
      const { path, help: text } = await pathOf(words)
      expect(path[0], `no command ${words[0]}`).toBe(words[0])
      expect((await help([...path, '--help'])).code).toBe(0)
      // A group's own commands are listed in its help: nothing that looks like one is missing there.
      const group = /^Commands:$/m.test(text) && words[path.length] !== undefined
      expect(group ? words[path.length] : null, `${path.join(' ')} has no such command`).toBeNull()
      for (const option of options) {
        const known = GLOBAL_OPTIONS.includes(option) || text.includes(`${option} `)
        expect(known, `${path.join(' ')} has no ${option}`).toBe(true)
      }
    },
  )
})

test('help speaks to each kind of user apart', async () => {
  const { out } = await help(['--help'])
  for (const heading of ['To begin:', 'Agents', 'Owners', 'Operators']) {
    expect(out).toContain(heading)
  }
  const operators = out.slice(out.indexOf('Operators'), out.indexOf('Other:'))
  for (const name of ['live', 'doctor', 'users', 'custody'])
    expect(operators).toContain(`  ${name}`)
})
