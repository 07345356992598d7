import { docsPage } from '../../src/api/docs-page.js'
import { openApiDocument } from '../../src/api/openapi.js'

/** The blocks of code that documents show to be pasted. */

export interface Block {
  /** Where it stands: the id of its section, or the line of its document. */
  readonly where: string
  readonly text: string
}

/** Blocks of the page `/docs`, as a browser copies them. */
export function blocksOfPage(page = docsPage(openApiDocument())): readonly Block[] {
  return page.split(/<section id="/).flatMap((section) => {
    const where = section.slice(0, section.indexOf('"'))
    return [...section.matchAll(/<pre[^>]*>([\s\S]*?)<\/pre>/g)].map(([, html = '']) => ({
      where,
      text: unescaped(html),
    }))
  })
}

/** Fenced blocks of a Markdown document, of one language; `''` for those that name none. */
export function fencedBlocks(markdown: string, language: string): readonly Block[] {
  return [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, named]) => named === language)
    .map(({ 2: text = '', index }) => ({
      where: `line ${markdown.slice(0, index).split('\n').length}`,
      text: text.trimEnd(),
    }))
}

function unescaped(html: string): string {
  return html.replaceAll(/&#(\d+);/g, (_entity, code: string) => String.fromCharCode(Number(code)))
}
