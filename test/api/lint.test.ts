import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.js'

/**
 * The rules of `redocly lint`; health routes answer 200 or 503 and nothing that is a caller's fault.
 * Examples are recorded answers, and answers may carry fields that no schema names.
 */
const CONFIG = {
  extends: ['recommended'],
  rules: {
    'operation-4xx-response': 'off',
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
  },
} as const

it('the document passes redocly lint, examples and all', async () => {
  const problems = await lintFromString({
    source: JSON.stringify(openApiDocument()),
    absoluteRef: '/openapi.json',
    config: await createConfig({ ...CONFIG, extends: [...CONFIG.extends] }),
  })
  const told = problems.map(
    ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  )
  expect(told).toEqual([])
})
