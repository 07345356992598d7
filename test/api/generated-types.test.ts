import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.js'
import { operations } from '../../src/api/operations.js'

/** Types that others generate from the document compile, strictly, and know each operation. */
it('the document makes TypeScript types that compile', async () => {
  const source = astToString(await openapiTS(JSON.stringify(openApiDocument())))
  for (const { name } of operations) expect(source).toContain(`${name}: {`)
  const directory = await mkdtemp(join(process.cwd(), 'node_modules', '.cache', 'openapi-'))
  try {
    const file = join(directory, 'schema.ts')
    await writeFile(file, source)
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      types: [],
    })
    const problems = ts.getPreEmitDiagnostics(program)
    expect(problems.map(({ messageText }) => messageText)).toEqual([])
  } finally {
    await rm(directory, { recursive: true })
  }
}, 60_000)
