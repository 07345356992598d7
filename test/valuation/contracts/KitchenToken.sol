// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IReceiver {
    function onTokens(address from, uint256 amount, bytes calldata data) external;
}

/// @notice An ERC-20 with every way of moving and approving that tokens on the chains have had:
/// allowance steps, DAI's permit, calls to the receiver, batches by delegatecall to itself, a fee
/// on top of the amount, an event for what is left of an allowance.
contract KitchenToken {
    string public constant name = "Kitchen";
    string public constant symbol = "KIT";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    uint256 public feeBps;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(address => bool)) public isOperatorFor;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function setFeeBps(uint256 bps) external {
        feeBps = bps;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        if (from != msg.sender && !isOperatorFor[msg.sender][from]) {
            uint256 left = allowance[from][msg.sender] - amount;
            if (allowance[from][msg.sender] != type(uint256).max) _approve(from, msg.sender, left);
        }
        _move(from, to, amount);
        return true;
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        _approve(msg.sender, spender, amount);
        return true;
    }

    function increaseAllowance(address spender, uint256 added) external returns (bool) {
        _approve(msg.sender, spender, allowance[msg.sender][spender] + added);
        return true;
    }

    /// @dev DAI's, with a digest that is easy to sign in a test.
    function permit(
        address holder,
        address spender,
        uint256 nonce,
        uint256 expiry,
        bool allowed,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes32 digest = keccak256(abi.encode(holder, spender, nonce, expiry, allowed));
        require(ecrecover(digest, v, r, s) == holder, "signature");
        _approve(holder, spender, allowed ? type(uint256).max : 0);
    }

    function approveAndCall(address spender, uint256 amount, bytes calldata data) external {
        _approve(msg.sender, spender, amount);
        IReceiver(spender).onTokens(msg.sender, amount, data);
    }

    function transferAndCall(address to, uint256 amount, bytes calldata data) external {
        _move(msg.sender, to, amount);
        IReceiver(to).onTokens(msg.sender, amount, data);
    }

    /// @dev ERC-777: no event of ERC-20.
    function authorizeOperator(address operator) external {
        isOperatorFor[operator][msg.sender] = true;
    }

    function burn(uint256 amount) external {
        _move(msg.sender, address(0), amount);
    }

    function multicall(bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, ) = address(this).delegatecall(calls[i]);
            require(success, "multicall");
        }
    }

    function _approve(address owner, address spender, uint256 amount) private {
        allowance[owner][spender] = amount;
        emit Approval(owner, spender, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        uint256 fee = (amount * feeBps) / 10_000;
        balanceOf[from] -= amount + fee;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        if (fee == 0) return;
        balanceOf[address(this)] += fee;
        emit Transfer(from, address(this), fee);
    }
}
