// Generated from AgentRouter.sol by scripts/contracts/compile.ts; do not edit.
export const agentRouterAbi = [
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "target",
        "type": "address"
      }
    ],
    "name": "AddressEmptyCode",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "target",
        "type": "address"
      },
      {
        "internalType": "bytes4",
        "name": "selector",
        "type": "bytes4"
      }
    ],
    "name": "CallNotAllowed",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "DataMismatch",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "DeadlineTooFar",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "EnforcedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ExpectedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "FailedCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "feeBps",
        "type": "uint256"
      }
    ],
    "name": "FeeTooHigh",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "InputNotSpent",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "IntentExpired",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidAmounts",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidCoSignature",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidCoSigner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "target",
        "type": "address"
      }
    ],
    "name": "InvalidTarget",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidUserSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "name": "MissingPrecompile",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "nonce",
        "type": "uint256"
      }
    ],
    "name": "NonceUsed",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "NotAllowedToCancel",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "NotDelegated",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "NotGuardian",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "NotRelayer",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "overlap",
        "type": "uint256"
      }
    ],
    "name": "OverlapTooLong",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "OwnableInvalidOwner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "OwnableUnauthorizedAccount",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ReentrancyGuardReentrantCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SameToken",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "amountOut",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "minOut",
        "type": "uint256"
      }
    ],
    "name": "SlippageExceeded",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "UnexpectedAmountReceived",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "UnexpectedNative",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAddress",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "target",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "bytes4",
        "name": "selector",
        "type": "bytes4"
      }
    ],
    "name": "CallAllowed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "target",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "bytes4",
        "name": "selector",
        "type": "bytes4"
      }
    ],
    "name": "CallDisallowed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "nonce",
        "type": "uint256"
      }
    ],
    "name": "Cancelled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "x",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "y",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "previousUntil",
        "type": "uint256"
      }
    ],
    "name": "CoSignerChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "target",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "nonce",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "tokenIn",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amountIn",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "fee",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "tokenOut",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amountOut",
        "type": "uint256"
      }
    ],
    "name": "Executed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "feeRecipient",
        "type": "address"
      }
    ],
    "name": "FeeRecipientChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "guardian",
        "type": "address"
      }
    ],
    "name": "GuardianChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferStarted",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferred",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Paused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "relayer",
        "type": "address"
      }
    ],
    "name": "RelayerAdded",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "relayer",
        "type": "address"
      }
    ],
    "name": "RelayerRemoved",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Unpaused",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "MAX_FEE_BPS",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "MAX_LIFETIME",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "MAX_OVERLAP",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "acceptOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address[]",
        "name": "relayers",
        "type": "address[]"
      }
    ],
    "name": "addRelayers",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "target",
            "type": "address"
          },
          {
            "internalType": "bytes4",
            "name": "selector",
            "type": "bytes4"
          }
        ],
        "internalType": "struct AgentRouter.AllowedCall[]",
        "name": "calls",
        "type": "tuple[]"
      }
    ],
    "name": "allowCalls",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "nonce",
        "type": "uint256"
      }
    ],
    "name": "cancel",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "coSigner",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "x",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "y",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "account",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "tokenIn",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "amountIn",
            "type": "uint256"
          },
          {
            "internalType": "uint16",
            "name": "feeBps",
            "type": "uint16"
          },
          {
            "internalType": "address",
            "name": "tokenOut",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "minOut",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "target",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "nonce",
            "type": "uint256"
          },
          {
            "internalType": "uint48",
            "name": "deadline",
            "type": "uint48"
          },
          {
            "internalType": "bytes32",
            "name": "dataHash",
            "type": "bytes32"
          }
        ],
        "internalType": "struct Intent",
        "name": "intent",
        "type": "tuple"
      }
    ],
    "name": "digestOf",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "target",
            "type": "address"
          },
          {
            "internalType": "bytes4",
            "name": "selector",
            "type": "bytes4"
          }
        ],
        "internalType": "struct AgentRouter.AllowedCall[]",
        "name": "calls",
        "type": "tuple[]"
      }
    ],
    "name": "disallowCalls",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "account",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "tokenIn",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "amountIn",
            "type": "uint256"
          },
          {
            "internalType": "uint16",
            "name": "feeBps",
            "type": "uint16"
          },
          {
            "internalType": "address",
            "name": "tokenOut",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "minOut",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "target",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "nonce",
            "type": "uint256"
          },
          {
            "internalType": "uint48",
            "name": "deadline",
            "type": "uint48"
          },
          {
            "internalType": "bytes32",
            "name": "dataHash",
            "type": "bytes32"
          }
        ],
        "internalType": "struct Intent",
        "name": "intent",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "data",
        "type": "bytes"
      },
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "r",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "vs",
            "type": "bytes32"
          }
        ],
        "internalType": "struct UserSignature",
        "name": "userSignature",
        "type": "tuple"
      },
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "r",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "s",
            "type": "bytes32"
          }
        ],
        "internalType": "struct CoSignature",
        "name": "coSignature",
        "type": "tuple"
      }
    ],
    "name": "execute",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "feeRecipient",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "guardian",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "target",
        "type": "address"
      },
      {
        "internalType": "bytes4",
        "name": "selector",
        "type": "bytes4"
      }
    ],
    "name": "isAllowedCall",
    "outputs": [
      {
        "internalType": "bool",
        "name": "allowed",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "nonce",
        "type": "uint256"
      }
    ],
    "name": "isNonceUsed",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "relayer",
        "type": "address"
      }
    ],
    "name": "isRelayer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "allowed",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "word",
        "type": "uint256"
      }
    ],
    "name": "nonceBitmap",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "bits",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "paused",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pendingOwner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "previousCoSigner",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "x",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "y",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "previousCoSignerUntil",
    "outputs": [
      {
        "internalType": "uint48",
        "name": "",
        "type": "uint48"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address[]",
        "name": "relayers",
        "type": "address[]"
      }
    ],
    "name": "removeRelayers",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "x",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "y",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "overlap",
        "type": "uint256"
      }
    ],
    "name": "setCoSigner",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "feeRecipient_",
        "type": "address"
      }
    ],
    "name": "setFeeRecipient",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "guardian_",
        "type": "address"
      }
    ],
    "name": "setGuardian",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "unpause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "stateMutability": "payable",
    "type": "receive"
  }
] as const

/** Creation code, without constructor arguments. */
export const agentRouterBytecode =
  '0x608060405234801561000f575f5ffd5b5060405161362e38038061362e83398101604081905261002e91610100565b806001600160a01b03811661005c57604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b61006581610095565b50600280546001600160a01b039092166001600160a01b031992831681179091556003805490921617905561012d565b600180546001600160a01b03191690556100ae816100b1565b50565b5f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b5f60208284031215610110575f5ffd5b81516001600160a01b0381168114610126575f5ffd5b9392505050565b6134f48061013a5f395ff3fe6080604052600436106101d3575f3560e01c8063845eb5fe116100fd578063d55be8c611610092578063f138b81f11610062578063f138b81f14610677578063f2fde38b14610696578063f4cb33cc146106b5578063f5e90f94146106d4575f5ffd5b8063d55be8c6146105fb578063e30c39781461060f578063e74b981b14610639578063ed2983ee14610658575f5ffd5b806398590ef9116100cd57806398590ef914610545578063a19a644614610564578063c11794711461057e578063cab7e8eb1461059d575f5ffd5b8063845eb5fe146104b757806384b0196e146104d65780638a0dac4a146104fd5780638da5cb5b1461051c575f5ffd5b80634cecd2a5116101735780635c975abb116101435780635c975abb1461044c578063715018a61461047b57806379ba50971461048f5780638456cb59146104a3575f5ffd5b80634cecd2a51461038a5780634fe02b44146103d3578063541d5548146104095780635c3dcb1014610437575f5ffd5b80633f4ba83a116101ae5780633f4ba83a146102da578063452a9320146102ee578063469048401461033f578063496316871461036b575f5ffd5b80632ba2a665146102365780632ddf375a1461025e578063312c66cd146102ab575f5ffd5b36610232577f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005c610230576040517f03106d0d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b005b5f5ffd5b348015610241575f5ffd5b5061024b61025881565b6040519081526020015b60405180910390f35b348015610269575f5ffd5b506002546102949074010000000000000000000000000000000000000000900465ffffffffffff1681565b60405165ffffffffffff9091168152602001610255565b3480156102b6575f5ffd5b506004546005546102c5919082565b60408051928352602083019190915201610255565b3480156102e5575f5ffd5b506102306106f3565b3480156102f9575f5ffd5b5060035461031a9073ffffffffffffffffffffffffffffffffffffffff1681565b60405173ffffffffffffffffffffffffffffffffffffffff9091168152602001610255565b34801561034a575f5ffd5b5060025461031a9073ffffffffffffffffffffffffffffffffffffffff1681565b348015610376575f5ffd5b5061024b610385366004612e11565b610705565b348015610395575f5ffd5b506103c36103a4366004612e83565b600960209081525f928352604080842090915290825290205460ff1681565b6040519015158152602001610255565b3480156103de575f5ffd5b5061024b6103ed366004612eb4565b600a60209081525f928352604080842090915290825290205481565b348015610414575f5ffd5b506103c3610423366004612edc565b60086020525f908152604090205460ff1681565b348015610442575f5ffd5b5061024b610e1081565b348015610457575f5ffd5b5060015474010000000000000000000000000000000000000000900460ff166103c3565b348015610486575f5ffd5b50610230610716565b34801561049a575f5ffd5b50610230610727565b3480156104ae575f5ffd5b506102306107a3565b3480156104c2575f5ffd5b506102306104d1366004612ef5565b610839565b3480156104e1575f5ffd5b506104ea61099b565b6040516102559796959493929190612f6a565b348015610508575f5ffd5b50610230610517366004612edc565b610a8d565b348015610527575f5ffd5b505f5473ffffffffffffffffffffffffffffffffffffffff1661031a565b348015610550575f5ffd5b5061023061055f366004612eb4565b610b0f565b34801561056f575f5ffd5b506006546007546102c5919082565b348015610589575f5ffd5b50610230610598366004613029565b610bf1565b3480156105a8575f5ffd5b506103c36105b7366004612eb4565b73ffffffffffffffffffffffffffffffffffffffff82165f908152600a60209081526040808320600885901c8452909152902054600160ff83161b16151592915050565b348015610606575f5ffd5b5061024b606481565b34801561061a575f5ffd5b5060015473ffffffffffffffffffffffffffffffffffffffff1661031a565b348015610644575f5ffd5b50610230610653366004612edc565b610e05565b348015610663575f5ffd5b5061024b6106723660046130aa565b610ecd565b348015610682575f5ffd5b50610230610691366004613029565b610fe3565b3480156106a1575f5ffd5b506102306106b0366004612edc565b6111a1565b3480156106c0575f5ffd5b506102306106cf366004613150565b611250565b3480156106df575f5ffd5b506102306106ee366004613150565b611351565b6106fb611451565b6107036114a3565b565b5f6107108230611520565b92915050565b61071e611451565b6107035f6116cc565b600154339073ffffffffffffffffffffffffffffffffffffffff168114610797576040517f118cdaa700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff821660048201526024015b60405180910390fd5b6107a0816116cc565b50565b60035473ffffffffffffffffffffffffffffffffffffffff163314806107df57505f5473ffffffffffffffffffffffffffffffffffffffff1633145b3390610830576040517fa252c15100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b506107036116fd565b610841611451565b61084b838361176c565b610881576040517fe90772fb00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b80610e108111156108c1576040517fc47cb65200000000000000000000000000000000000000000000000000000000815260040161078e91815260200190565b5060045460065560055460075580156108e3576108de81426131de565b6108e5565b5f5b600280547fffffffffffff000000000000ffffffffffffffffffffffffffffffffffffffff167401000000000000000000000000000000000000000065ffffffffffff93841681029190911791829055604080518082018252878152602090810187905260048890556005879055815188815290810187905291909204909216908201527f1b88b53e7e9935f14d4bad0e9b22b078e03928dbdb2f8a532342bce0f795303f9060600160405180910390a1505050565b5f6060805f5f5f60606040518060400160405280601781526020017f436f756e7465727369676e204167656e74526f757465720000000000000000008152506040518060400160405280600181526020017f310000000000000000000000000000000000000000000000000000000000000081525046305f5f1b5f67ffffffffffffffff811115610a2e57610a2e6131f1565b604051908082528060200260200182016040528015610a57578160200160208202803683370190505b507f0f000000000000000000000000000000000000000000000000000000000000009d959c50939a509198509650945092509050565b610a95611451565b600380547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527f01c6520cf747e4632b43b535b91afe3950ccabc4ab29bbd89e3c1f6b0ba05655906020015b60405180910390a150565b3373ffffffffffffffffffffffffffffffffffffffff83161480610b415750335f9081526008602052604090205460ff165b3390610b92576040517f4e0ffdfd00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b50610b9d82826117f1565b8173ffffffffffffffffffffffffffffffffffffffff167f36ea5cd5608625e789af0282eecdb4eae1cb7c1cf6d0ec3f9a84f35be850260b82604051610be591815260200190565b60405180910390a25050565b610bf9611451565b5f5b81811015610e00575f838383818110610c1657610c1661321e565b610c2c9260206040909202019081019150612edc565b905073ffffffffffffffffffffffffffffffffffffffff81163014801590610c6a575073ffffffffffffffffffffffffffffffffffffffff81163b15155b8190610cbb576040517fd08525e900000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b5073ffffffffffffffffffffffffffffffffffffffff81165f908152600960205260408120600191868686818110610cf557610cf561321e565b9050604002016020016020810190610d0d919061324b565b7fffffffff0000000000000000000000000000000000000000000000000000000016815260208101919091526040015f2080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0016911515919091179055838383818110610d7d57610d7d61321e565b9050604002016020016020810190610d95919061324b565b7bffffffffffffffffffffffffffffffffffffffffffffffffffffffff19168173ffffffffffffffffffffffffffffffffffffffff167f44f642f174c64debf51d4ba2dfd40c8dcc4b6a76e11f6c7765df055e63913ca960405160405180910390a350600101610bfb565b505050565b610e0d611451565b73ffffffffffffffffffffffffffffffffffffffff8116610e5a576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83169081179091556040519081527f167cccccc6e9b2892a740ec13fc1e51d3de8ea384f25bd87fee7412d588637e290602001610b04565b5f610ed66118c6565b610ede6118fb565b335f8181526008602052604090205460ff16610f3f576040517f366b2e5a00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b50610f4b868686611950565b5f610f568730611520565b9050610f70610f686020890189612edc565b828686611d91565b610f8a610f806020890189612edc565b8860e001356117f1565b5f610fb0610f9e60a08a0160808b01612edc565b610fab60208b018b612edc565b611f22565b90505f610fbf89898989612007565b9050610fcd898483856122b8565b9350505050610fda61242a565b95945050505050565b610feb611451565b5f5b81811015610e00575f60095f85858581811061100b5761100b61321e565b6110219260206040909202019081019150612edc565b73ffffffffffffffffffffffffffffffffffffffff1673ffffffffffffffffffffffffffffffffffffffff1681526020019081526020015f205f85858581811061106d5761106d61321e565b9050604002016020016020810190611085919061324b565b7fffffffff0000000000000000000000000000000000000000000000000000000016815260208101919091526040015f2080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00169115159190911790558282828181106110f5576110f561321e565b905060400201602001602081019061110d919061324b565b7fffffffff00000000000000000000000000000000000000000000000000000000168383838181106111415761114161321e565b6111579260206040909202019081019150612edc565b73ffffffffffffffffffffffffffffffffffffffff167fac92c785756ea1aef1cd8053dc5b91bad784795a46984b28e12b7b53038df09560405160405180910390a3600101610fed565b6111a9611451565b6001805473ffffffffffffffffffffffffffffffffffffffff83167fffffffffffffffffffffffff0000000000000000000000000000000000000000909116811790915561120b5f5473ffffffffffffffffffffffffffffffffffffffff1690565b73ffffffffffffffffffffffffffffffffffffffff167f38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e2270060405160405180910390a350565b611258611451565b5f5b81811015610e0057600160085f8585858181106112795761127961321e565b905060200201602081019061128e9190612edc565b73ffffffffffffffffffffffffffffffffffffffff16815260208101919091526040015f2080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00169115159190911790558282828181106112f2576112f261321e565b90506020020160208101906113079190612edc565b73ffffffffffffffffffffffffffffffffffffffff167f03580ee9f53a62b7cb409a2cb56f9be87747dd15017afc5cef6eef321e4fb2c560405160405180910390a260010161125a565b611359611451565b5f5b81811015610e00575f60085f8585858181106113795761137961321e565b905060200201602081019061138e9190612edc565b73ffffffffffffffffffffffffffffffffffffffff16815260208101919091526040015f2080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00169115159190911790558282828181106113f2576113f261321e565b90506020020160208101906114079190612edc565b73ffffffffffffffffffffffffffffffffffffffff167f10e1f7ce9fd7d1b90a66d13a2ab3cb8dd7f29f3f8d520b143b063ccfbab6906b60405160405180910390a260010161135b565b5f5473ffffffffffffffffffffffffffffffffffffffff163314610703576040517f118cdaa700000000000000000000000000000000000000000000000000000000815233600482015260240161078e565b6114ab612454565b600180547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff1690557f5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa335b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200160405180910390a1565b604080518082018252601781527f436f756e7465727369676e204167656e74526f7574657200000000000000000060209182015281518083018352600181527f31000000000000000000000000000000000000000000000000000000000000009082015281517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f918101919091527fabb2d98af0fc7d518206db96ac95b9eac4391b910987095880bac44f42733602918101919091527fc89efdaa54c0f20c7adf612882df0950f5a951637e0307cdcb4c672f298b8bc6606082015246608082015273ffffffffffffffffffffffffffffffffffffffff821660a08201525f90819060c0016040516020818303038152906040528051906020012090506116c4817ff4f21006865c3d9a6e2b87b2c342478d7d30044b3e697d5ad618eb26b5c6321986604051602001611674929190613380565b604051602081830303815290604052805190602001206040517f19010000000000000000000000000000000000000000000000000000000000008152600281019290925260228201526042902090565b949350505050565b600180547fffffffffffffffffffffffff00000000000000000000000000000000000000001690556107a0816124a8565b6117056118fb565b600180547fffffffffffffffffffffff00ffffffffffffffffffffffffffffffffffffffff16740100000000000000000000000000000000000000001790557f62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a2586114f63390565b5f7fffffffff00000001000000000000000000000000ffffffffffffffffffffffff80838409817f5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b8387857fffffffff00000001000000000000000000000000fffffffffffffffffffffffc878b8c0908090894821191909310169190921416919050565b73ffffffffffffffffffffffffffffffffffffffff82165f908152600a60209081526040808320600885901c8452909152902054600160ff83161b90838382841615611887576040517f2af71f1000000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff9092166004830152602482015260440161078e565b505073ffffffffffffffffffffffffffffffffffffffff9093165f908152600a6020908152604080832060089590951c83529390529190912091179055565b6118ce61251c565b61070360017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005b90612575565b60015474010000000000000000000000000000000000000000900460ff1615610703576040517fd93c066500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b61196261012084016101008501613395565b65ffffffffffff1642111561197f61012085016101008601613395565b906119c1576040517f7d37285400000000000000000000000000000000000000000000000000000000815265ffffffffffff909116600482015260240161078e565b506119ce610258426131de565b6119e061012085016101008601613395565b65ffffffffffff1611156119fc61012085016101008601613395565b90611a3e576040517f5011ebad00000000000000000000000000000000000000000000000000000000815265ffffffffffff909116600482015260240161078e565b506064611a5160808501606086016133ae565b61ffff161115611a6760808501606086016133ae565b90611aa5576040517f7b93142000000000000000000000000000000000000000000000000000000000815261ffff909116600482015260240161078e565b50604083013515801590611abc575060a083013515155b611af2576040517fd856fc5a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b611b0260a0840160808501612edc565b73ffffffffffffffffffffffffffffffffffffffff16611b286040850160208601612edc565b73ffffffffffffffffffffffffffffffffffffffff161415611b506040850160208601612edc565b90611ba0576040517f8519674700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b508261012001358282604051611bb79291906133c7565b604051809103902014611bf6576040517f866c41db00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f611c0182846133d6565b905060048210801590611c7b575060095f611c2260e0870160c08801612edc565b73ffffffffffffffffffffffffffffffffffffffff16815260208082019290925260409081015f9081207fffffffff000000000000000000000000000000000000000000000000000000008516825290925290205460ff165b611c8b60e0860160c08701612edc565b829091611d04576040517f805043f900000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff90921660048301527fffffffff0000000000000000000000000000000000000000000000000000000016602482015260440161078e565b50611d1490506020850185612edc565b73ffffffffffffffffffffffffffffffffffffffff163b1515611d3a6020860186612edc565b90611d8a576040517fd48bb6b600000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b5050505050565b5f611da2848435602086013561257c565b505090508473ffffffffffffffffffffffffffffffffffffffff168173ffffffffffffffffffffffffffffffffffffffff1614611e0b576040517fe3fb657c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f600285604051602001611e2191815260200190565b604080517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe081840301815290829052611e599161343c565b602060405180830381855afa158015611e74573d5f5f3e3d5ffd5b5050506040513d601f19601f82011682018060405250810190611e979190613452565b9050611ea5818460046125c7565b80611ee4575060025474010000000000000000000000000000000000000000900465ffffffffffff164211801590611ee45750611ee4818460066125c7565b611f1a576040517f93c3e58f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b505050505050565b5f73ffffffffffffffffffffffffffffffffffffffff831673eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee14611fe7576040517f70a0823100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff83811660048301528416906370a0823190602401602060405180830381865afa158015611fbe573d5f5f3e3d5ffd5b505050506040513d601f19601f82011682018060405250810190611fe29190613452565b612000565b8173ffffffffffffffffffffffffffffffffffffffff16315b9392505050565b5f806120196040870160208801612edc565b90505f6120268230611f22565b90506120356020880188612edc565b73ffffffffffffffffffffffffffffffffffffffff16638d145cd188866040518363ffffffff1660e01b815260040161206f929190613469565b5f604051808303815f87803b158015612086575f5ffd5b505af1158015612098573d5f5f3e3d5ffd5b506120ab925050506040880135826131de565b6120b58330611f22565b148290612107576040517f2e09056500000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b5061271061211b6080890160608a016133ae565b61212d9061ffff1660408a0135613492565b61213791906134a9565b92505f6121488460408a01356134e1565b90507fffffffffffffffffffffffff111111111111111111111111111111111111111273ffffffffffffffffffffffffffffffffffffffff8416016122065783156121b0576002546121b09073ffffffffffffffffffffffffffffffffffffffff16856125e3565b6122006121c360e08a0160c08b01612edc565b88888080601f0160208091040260200160405190810160405280939291908181526020018383808284375f9201919091525086925061268c915050565b5061224f565b8315612233576002546122339073ffffffffffffffffffffffffffffffffffffffff858116911686612786565b61224f8361224760e08b0160c08c01612edc565b8989856127e1565b8161225a8430611f22565b1483906122ac576040517fbeabf36500000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff909116600482015260240161078e565b50505050949350505050565b5f806122da6122cd60a0880160808901612edc565b610fab6020890189612edc565b90508281116122e9575f6122f3565b6122f383826134e1565b91508160a08701358082101561233e576040517f71c4efed0000000000000000000000000000000000000000000000000000000081526004810192909252602482015260440161078e565b50612351905060e0870160c08801612edc565b73ffffffffffffffffffffffffffffffffffffffff166123746020880188612edc565b73ffffffffffffffffffffffffffffffffffffffff16867f328bd98a9560c9bf85c156e25f714fbd43eb33731ce18efbe2e9c65f472693ea60e08a01356123c160408c0160208d01612edc565b8b604001358a8d60800160208101906123da9190612edc565b6040805195865273ffffffffffffffffffffffffffffffffffffffff9485166020870152850192909252606084015216608082015260a0810187905260c00160405180910390a450949350505050565b6107035f7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f006118f5565b60015474010000000000000000000000000000000000000000900460ff16610703576040517f8dfc202b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005c15610703576040517f3ee5aeb500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b80825d5050565b5f80807f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8416601b60ff86901c016125b688828985612974565b945094509450505093509350939050565b5f6116c484845f01358560200135855f01548660010154612a67565b80471015612626576040517fcf4791810000000000000000000000000000000000000000000000000000000081524760048201526024810182905260440161078e565b61263f828260405180602001604052805f815250612abf565b15612648575050565b3d1561265a57612656612ad4565b5050565b6040517fd6bda27500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6060814710156126d1576040517fcf4791810000000000000000000000000000000000000000000000000000000081524760048201526024810183905260440161078e565b5f6126dd858486612abf565b905080801561270b57505f3d118061270b57505f8573ffffffffffffffffffffffffffffffffffffffff163b115b1561272057612718612adf565b915050612000565b8015612770576040517f9996b31500000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8616600482015260240161078e565b3d1561265a5761277e612ad4565b509392505050565b6127938383836001612af8565b610e00576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260240161078e565b8473ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff1603612859576128538484848080601f0160208091040260200160405190810160405280939291908181526020018383808284375f92019190915250612b8092505050565b50611d8a565b61287a73ffffffffffffffffffffffffffffffffffffffff86168583612b8d565b6128b98484848080601f0160208091040260200160405190810160405280939291908181526020018383808284375f92019190915250612b8092505050565b506040517fdd62ed3e00000000000000000000000000000000000000000000000000000000815230600482015273ffffffffffffffffffffffffffffffffffffffff858116602483015286169063dd62ed3e90604401602060405180830381865afa15801561292a573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061294e9190613452565b15611d8a57611d8a73ffffffffffffffffffffffffffffffffffffffff8616855f612b8d565b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a08411156129ad57505f91506003905082612a5d565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa1580156129fe573d5f5f3e3d5ffd5b50506040517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0015191505073ffffffffffffffffffffffffffffffffffffffff8116612a5457505f925060019150829050612a5d565b92505f91508190505b9450945094915050565b5f5f5f612a778888888888612c05565b915091508015612a8957509050610fda565b6040517f42b01bce000000000000000000000000000000000000000000000000000000008152610100600482015260240161078e565b5f5f5f83516020850186885af1949350505050565b6040513d5f823e3d81fd5b6040513d81523d5f602083013e3d602001810160405290565b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8616600452602485905291602083604481808b5af1925060015f51148316612b74578383151615612b68573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b606061200083835f61268c565b612b998383835f612ce0565b610e0057612baa83835f6001612ce0565b612bf8576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260240161078e565b6127938383836001612ce0565b5f5f612c118686612d50565b1580612c245750612c22848461176c565b155b15612c3457505f90506001612cd6565b612c418787878787612dba565b15612c5157506001905080612cd6565b612cc07fbb5a52f42f9c9261ed4361f59422a1e30036e7c32b270c8807a419feca605023600560017fa71af64de5126a4a4e02b7922d66ce9415ce88a4c9d25514d91082c8725ac9577f5d47723c8fbe580bb369fec9c2665d8e30a435b9932645482e7c9f11e872296b612dba565b15612cd057505f90506001612cd6565b505f9050805b9550959350505050565b6040517f095ea7b3000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8616600452602485905291602083604481808b5af1925060015f51148316612b74578383151615612b68573d5f823e3d81fd5b5f8215801590612d7f57507fffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63255183105b8015612d8a57508115155b80156120005750507f7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a81015919050565b5f6040518681528560208201528460408201528360608201528260808201525f5f5260205f60a0836101005afa612ded57fe5b50505f5195945050505050565b5f6101408284031215612e0b575f5ffd5b50919050565b5f6101408284031215612e22575f5ffd5b6120008383612dfa565b803573ffffffffffffffffffffffffffffffffffffffff81168114612e4f575f5ffd5b919050565b80357fffffffff0000000000000000000000000000000000000000000000000000000081168114612e4f575f5ffd5b5f5f60408385031215612e94575f5ffd5b612e9d83612e2c565b9150612eab60208401612e54565b90509250929050565b5f5f60408385031215612ec5575f5ffd5b612ece83612e2c565b946020939093013593505050565b5f60208284031215612eec575f5ffd5b61200082612e2c565b5f5f5f60608486031215612f07575f5ffd5b505081359360208301359350604090920135919050565b5f81518084528060208401602086015e5f6020828601015260207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011685010191505092915050565b7fff000000000000000000000000000000000000000000000000000000000000008816815260e060208201525f612fa460e0830189612f1e565b8281036040840152612fb68189612f1e565b6060840188905273ffffffffffffffffffffffffffffffffffffffff8716608085015260a0840186905283810360c0850152845180825260208087019350909101905f5b81811015613018578351835260209384019390920191600101612ffa565b50909b9a5050505050505050505050565b5f5f6020838503121561303a575f5ffd5b823567ffffffffffffffff811115613050575f5ffd5b8301601f81018513613060575f5ffd5b803567ffffffffffffffff811115613076575f5ffd5b8560208260061b840101111561308a575f5ffd5b6020919091019590945092505050565b5f60408284031215612e0b575f5ffd5b5f5f5f5f5f6101e086880312156130bf575f5ffd5b6130c98787612dfa565b945061014086013567ffffffffffffffff8111156130e5575f5ffd5b8601601f810188136130f5575f5ffd5b803567ffffffffffffffff81111561310b575f5ffd5b88602082840101111561311c575f5ffd5b6020919091019450925061313487610160880161309a565b9150613144876101a0880161309a565b90509295509295909350565b5f5f60208385031215613161575f5ffd5b823567ffffffffffffffff811115613177575f5ffd5b8301601f81018513613187575f5ffd5b803567ffffffffffffffff81111561319d575f5ffd5b8560208260051b840101111561308a575f5ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b80820180821115610710576107106131b1565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52604160045260245ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b5f6020828403121561325b575f5ffd5b61200082612e54565b803561ffff81168114612e4f575f5ffd5b803565ffffffffffff81168114612e4f575f5ffd5b6132b18261329783612e2c565b73ffffffffffffffffffffffffffffffffffffffff169052565b6132bd60208201612e2c565b73ffffffffffffffffffffffffffffffffffffffff166020830152604081810135908301526132ee60608201613264565b61ffff16606083015261330360808201612e2c565b73ffffffffffffffffffffffffffffffffffffffff16608083015260a0818101359083015261333460c08201612e2c565b73ffffffffffffffffffffffffffffffffffffffff1660c083015260e081810135908301526133666101008201613275565b65ffffffffffff1661010083015261012090810135910152565b8281526101608101612000602083018461328a565b5f602082840312156133a5575f5ffd5b61200082613275565b5f602082840312156133be575f5ffd5b61200082613264565b818382375f9101908152919050565b80357fffffffff000000000000000000000000000000000000000000000000000000008116906004841015613435577fffffffff00000000000000000000000000000000000000000000000000000000808560040360031b1b82161691505b5092915050565b5f82518060208501845e5f920191825250919050565b5f60208284031215613462575f5ffd5b5051919050565b6101808101613478828561328a565b823561014083015260209092013561016090910152919050565b8082028115828204841417610710576107106131b1565b5f826134dc577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b81810381811115610710576107106131b156'

/** The deployed code inside the creation code, in bytes; immutables are words inside it. */
export const agentRouterRuntime = {
  offset: 314,
  length: 13556,
  immutables: [],
} as const
