// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @notice Functions, events and allowances of Permit2 with its selectors; only the signed digest
/// is simpler than EIP-712.
contract ModelPermit2 {
    struct Entry {
        uint160 amount;
        uint48 expiration;
        uint48 nonce;
    }

    struct Details {
        address token;
        uint160 amount;
        uint48 expiration;
        uint48 nonce;
    }

    struct PermitSingle {
        Details details;
        address spender;
        uint256 sigDeadline;
    }

    struct Pair {
        address token;
        address spender;
    }

    mapping(address => mapping(address => mapping(address => Entry))) public allowance;

    event Approval(
        address indexed owner,
        address indexed token,
        address indexed spender,
        uint160 amount,
        uint48 expiration
    );
    event Permit(
        address indexed owner,
        address indexed token,
        address indexed spender,
        uint160 amount,
        uint48 expiration,
        uint48 nonce
    );
    event Lockdown(address indexed owner, address token, address spender);

    function approve(address token, address spender, uint160 amount, uint48 expiration) external {
        allowance[msg.sender][token][spender] = Entry(amount, expiration, 0);
        emit Approval(msg.sender, token, spender, amount, expiration);
    }

    function permit(
        address owner,
        PermitSingle calldata single,
        bytes calldata signature
    ) external {
        Details calldata details = single.details;
        bytes32 digest = keccak256(
            abi.encode(owner, details.token, details.amount, single.spender)
        );
        require(_isSigned(owner, digest, signature), "signature");
        allowance[owner][details.token][single.spender] = Entry(
            details.amount,
            details.expiration,
            1
        );
        emit Permit(
            owner,
            details.token,
            single.spender,
            details.amount,
            details.expiration,
            details.nonce
        );
    }

    function transferFrom(address from, address to, uint160 amount, address token) external {
        Entry storage entry = allowance[from][token][msg.sender];
        require(entry.expiration >= block.timestamp, "expired");
        if (entry.amount != type(uint160).max) entry.amount -= amount;
        IToken(token).transferFrom(from, to, amount);
    }

    function lockdown(Pair[] calldata pairs) external {
        for (uint256 i = 0; i < pairs.length; i++) {
            allowance[msg.sender][pairs[i].token][pairs[i].spender].amount = 0;
            emit Lockdown(msg.sender, pairs[i].token, pairs[i].spender);
        }
    }

    function _isSigned(
        address owner,
        bytes32 digest,
        bytes calldata signature
    ) internal view virtual returns (bool) {
        (bytes32 r, bytes32 s, uint8 v) = abi.decode(signature, (bytes32, bytes32, uint8));
        return ecrecover(digest, v, r, s) == owner;
    }
}
