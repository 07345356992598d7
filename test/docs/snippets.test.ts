import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.js'
import {
  documentedOperations,
  inputOf,
  type OpenApiDocument,
} from '../../src/console/playground/documented.js'
import { plannedRequest } from '../../src/console/playground/request.js'
import { snippetsOf } from '../../src/console/playground/snippets.js'
import { blocksOfPage, fencedBlocks } from './blocks.js'

/** TypeScript that documents show compiles as a stranger compiles it, under `--strict`. */

const operations = documentedOperations(openApiDocument() as unknown as OpenApiDocument)

const playground = operations.flatMap((operation) => {
  const typed = Object.fromEntries(operation.fields.map(({ name, example }) => [name, example]))
  const input = inputOf(operation.fields, typed)
  const request = plannedRequest(operation, input, 'invoice-1')
  return snippetsOf(operation, input, request, 'invoice-1', 'http://127.0.0.1:8080')
    .filter(({ title }) => title === 'TypeScript')
    .map(({ text }) => ({ where: `playground, ${operation.name}`, text }))
})
const page = blocksOfPage().filter(({ text }) => /^import .* from 'countersign\//.test(text))
const readme = fencedBlocks(readFileSync('README.md', 'utf8'), 'ts')

const snippets = [
  ...page.map(({ where, text }) => ({ where: `/docs#${where}`, text })),
  ...readme.map(({ where, text }) => ({ where: `README.md, ${where}`, text })),
  ...playground,
]

const OPTIONS: ts.CompilerOptions = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  resolveJsonModule: true,
  allowArbitraryExtensions: true,
  paths: {
    'countersign/client': [resolve('src/client/index.ts')],
    'countersign/client/*': [resolve('src/client/*.ts')],
  },
}

/** One program for all: the types of the client are read once. */
function complaintsOf(texts: readonly string[]): readonly string[][] {
  const files = new Map(texts.map((text, at) => [resolve(`snippet-${at}.ts`), text]))
  const host = ts.createCompilerHost(OPTIONS)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.readFile = (path) => files.get(path) ?? readFile(path)
  host.getSourceFile = (path, options, ...rest) => {
    const text = files.get(path)
    if (text === undefined) return getSourceFile(path, options, ...rest)
    return ts.createSourceFile(path, text, options)
  }
  const program = ts.createProgram([...files.keys()], OPTIONS, host)
  return [...files.keys()].map((path) => {
    const source = program.getSourceFile(path)
    return ts
      .getPreEmitDiagnostics(program, source)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  })
}

describe('a snippet that documents show', () => {
  const wrong = "import { createClient } from 'countersign/client'\ncreateClient({ url: 1 })"
  const complaints = complaintsOf([...snippets.map(({ text }) => text), wrong])

  it('is found on each page that shows any', () => {
    expect([page.length > 1, readme.length > 0, playground.length]).toEqual([
      true,
      true,
      operations.length,
    ])
  })

  it.each(snippets.map(({ where }, at) => [where, at] as const))('compiles: %s', (_where, at) => {
    expect(complaints[at]).toEqual([])
  })

  it('is refused where it does not compile', () => {
    expect(complaints.at(-1)).not.toEqual([])
  })
})
