import type { Tool } from '@modelcontextprotocol/server'
import type { Era } from './fast-path.js'
import { META_KEYS, SERVER_INFO, TOOL_LIST_CACHE } from './protocol.js'
import { resultMembers, resultMeta, type ToolResult } from './tool-result.js'

/**
 * Builds the bodies of fast-path answers. Repeated content, such as the list of tools and values
 * whose JSON is cached, is kept as bytes, because encoding a string of this length costs more than
 * everything else in an answer.
 */

const MODERN_META = `${JSON.stringify(META_KEYS.serverInfo)}:${JSON.stringify(SERVER_INFO)}`
const MODERN_MEMBERS = ',"resultType":"complete"'
const { ttlMs, cacheScope } = TOOL_LIST_CACHE

/** Large enough for any list and all but the longest answers. */
const SCRATCH_BYTES = 64 * 1024
const ASCII = /^[ -~]*$/
const CLOSE_BRACE = 125

/** Valid until the next answer is built; the sender copies it at once. */
export type ResponseBody = string | Uint8Array

interface PlainResponses {
  /** @param idText the request's id as JSON */
  list(era: Era, idText: string): ResponseBody
  call(era: Era, idText: string, result: ToolResult): ResponseBody
  /** @param result with its `resultType`, which only the modern era has */
  waiting(idText: string, result: object): ResponseBody
}

export function createPlainResponses(tools: readonly Tool[]): PlainResponses {
  const listed = `"tools":${JSON.stringify(tools)}`
  const lists: Readonly<Record<Era, Uint8Array>> = {
    handshake: Buffer.from(opening(listed)),
    modern: Buffer.from(
      opening(`${listed}${MODERN_MEMBERS},"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`),
    ),
  }
  const listEnds: Readonly<Record<Era, Uint8Array>> = {
    handshake: Buffer.from(ending('', '')),
    modern: Buffer.from(ending('', MODERN_META)),
  }
  const callEnds: Readonly<Record<Era, Uint8Array>> = {
    handshake: listEnds.handshake,
    modern: Buffer.from(ending(MODERN_MEMBERS, MODERN_META)),
  }
  const scratch = new Uint8Array(SCRATCH_BYTES)

  function join(head: Uint8Array, end: Uint8Array, idText: string): Uint8Array {
    let at = head.byteLength + end.byteLength
    if (at + idText.length >= SCRATCH_BYTES || !ASCII.test(idText)) {
      return Buffer.concat([head, end, Buffer.from(`${idText}}`)])
    }
    scratch.set(head)
    scratch.set(end, head.byteLength)
    for (let i = 0; i < idText.length; i++) scratch[at++] = idText.charCodeAt(i)
    scratch[at++] = CLOSE_BRACE
    return new Uint8Array(scratch.buffer, 0, at)
  }

  return {
    list: (era, idText) => join(lists[era], listEnds[era], idText),
    call(era, idText, result) {
      const meta = resultMeta(result)
      if (result.kind === 'value' && result.kept !== null && meta === '') {
        const { kept } = result
        kept.encoded ??= Buffer.from(opening(resultMembers(result)))
        return join(kept.encoded, callEnds[era], idText)
      }
      const head = opening(resultMembers(result))
      const end =
        era === 'modern' ? ending(MODERN_MEMBERS, joinMembers(meta, MODERN_META)) : ending('', meta)
      return `${head}${end}${idText}}`
    },
    waiting: (idText, result) =>
      `${opening(JSON.stringify(result).slice(1, -1))}${ending('', MODERN_META)}${idText}}`,
  }
}

/** A response up to the last of its result's first members. */
function opening(members: string): string {
  return `{"result":{${members}`
}

/**
 * A response from there to its id.
 * @param members further members of the result, each with its leading comma
 * @param meta members of the result's `_meta`, without braces
 */
function ending(members: string, meta: string): string {
  return `${members}${meta === '' ? '' : `,"_meta":{${meta}}`}},"jsonrpc":"2.0","id":`
}

function joinMembers(first: string, others: string): string {
  return first === '' ? others : `${first},${others}`
}
